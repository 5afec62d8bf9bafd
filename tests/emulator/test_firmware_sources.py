"""C that would make a compiler read files outside the folder, or is not C: refused before a compiler sees it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from emulator.firmware import read_firmware
from spec.errors import InputError

INNOCENT = [
    '#include "rlcc_policy.h"',
    "  #  include <stdint.h>  /* for uint32_t */",
    "#define RLCC_SLOT 0U /* the slot */",
    "#ifdef __cplusplus\n#endif",
]
GUILTY = [
    '#include "/etc/passwd"',
    '#include "../other/secret.h"',
    "#include </etc/passwd>",
    '  #  include "/etc/passwd"',
    '/* */ #include "/etc/passwd"',
    'const char *a = "/*";\n#include "/etc/passwd"\nconst char *b = "*/";',
    '#inc\\\nlude "/etc/passwd"',
    '#inc\\ \nlude "/etc/passwd"',
    '#include \\\n"/etc/passwd"',
    '%:include "/etc/passwd"',
    '??=include "/etc/passwd"',
    "#define WHERE </etc/passwd>\n#include WHERE",
    '#embed "/etc/passwd"',
    '#include_next "rlcc_policy.h"',
    '#import "/etc/passwd"',
    '#pragma GCC dependency "/etc/passwd"',
    '_Pragma("GCC dependency \\"/etc/passwd\\"")',
    '#include "student.json"',
    '#if __has_include("/etc/passwd")\n#endif',
    '__asm__(".incbin \\"/etc/passwd\\"");',
    'asm(".include \\"/etc/passwd\\"");',
    "#define AS a ## sm",
]


@pytest.mark.parametrize("line", INNOCENT)
def test_what_is_emitted_is_read(line: str, firmware_folder: Callable[..., Path], policy_source: str) -> None:
    assert read_firmware(firmware_folder(policy=f"{policy_source}{line}\n")).source.is_file()


@pytest.mark.parametrize("line", GUILTY)
def test_what_reaches_out_of_the_folder_is_refused(
    line: str, firmware_folder: Callable[..., Path], policy_source: str
) -> None:
    with pytest.raises(InputError, match="which rlcc never emits") as caught:
        read_firmware(firmware_folder(policy=f"{policy_source}{line}\n"))
    assert "rlcc_policy.c" in str(caught.value)
