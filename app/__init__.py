"""The web page. It imports core; nothing imports it."""
