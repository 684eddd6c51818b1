"""The frames of the document socket: text on the wire, values inside."""
