/** What the server sent last: a pack, or null. It comes as one text, see app/widgets/component.py. */
const valueSent = () => (props.value ? JSON.parse(props.value) : null);
