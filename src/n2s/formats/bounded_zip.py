"""The members of a ZIP archive, unpacked to the size they declare and not a byte further.

``zipfile`` inflates a member before it looks at its size, by up to two gigabytes at a time, and its
other codecs without any bound; a small file could so fill the memory of whoever opens it.
"""

from __future__ import annotations

import zipfile
import zlib

from n2s.errors import InputError, quoted

ENCRYPTED = 0x1
_LOCAL_HEADER = 30  # bytes before the name


def unpacked(data: bytes, member: zipfile.ZipInfo) -> bytes:
    """The content of ``member`` of the archive ``data``.

    Raises
    ------
    InputError
        If it is not stored or deflated, or is not what the archive says it is.
    """
    name = quoted(member.filename)
    if member.flag_bits & ENCRYPTED:
        raise InputError(f"the member {name} is encrypted")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"the member {name} is packed in a way that is not supported")
    head = data[member.header_offset : member.header_offset + _LOCAL_HEADER]
    if len(head) < _LOCAL_HEADER or head[:4] != b"PK\x03\x04":
        raise InputError(f"the member {name} is not where the archive says it is")
    lengths = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    start = member.header_offset + _LOCAL_HEADER + lengths
    raw = data[start : start + member.compress_size]
    if member.compress_type == zipfile.ZIP_DEFLATED:
        try:
            raw = zlib.decompressobj(-zlib.MAX_WBITS).decompress(raw, member.file_size + 1)
        except zlib.error:
            raise InputError(f"the member {name} is damaged") from None
    if len(raw) != member.file_size or zlib.crc32(raw) != member.CRC:
        raise InputError(f"the member {name} is not the {member.file_size} bytes it claims to be")
    return raw
