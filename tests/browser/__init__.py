"""Tests in a real Chromium, against a server of their own."""
