"""`python -m emulator.linux`: make the machine's parts, and print what they were made of."""

from decision.artefact.errors import InputError
from emulator.linux.parts import machine_parts

try:
    parts = machine_parts(print)
except InputError as error:
    raise SystemExit(f"error: {error}") from None
for package in parts.packages:
    print(f"{package['sha256']}  {package['name']} {package['version']}")
print(f"kernel {parts.kernel_release}, parts {parts.hash[:12]} in {parts.folder}")
