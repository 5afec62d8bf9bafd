"""Files that stages hand on: manifests and documents, the units in them, the errors about them."""
