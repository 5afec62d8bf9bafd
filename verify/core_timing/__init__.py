"""The cycle costs of a core, proved from its RTL: every instruction, from every state of the pipeline."""
