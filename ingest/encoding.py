"""In which encoding a note is written: UTF-8 as a rule, UTF-16 with or without a byte order mark."""

import codecs

import msgspec

_SAMPLE = 4096
_MARKS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_PIECE = 1 << 20


class Encoding(msgspec.Struct, frozen=True):
    """How bytes become text and back without loss. `unit` = bytes of one code unit; `bom` = the mark in front."""

    codec: str = "utf-8"
    errors: str = "surrogateescape"
    unit: int = 1
    bom: bytes = b""

    @property
    def newline(self) -> bytes:
        r"""The bytes of `\n`."""
        return "\n".encode(self.codec)

    def line_end(self, data: bytes, position: int) -> int:
        """The position behind the line that holds `position`; the end of `data` if it is the last."""
        at = data.find(self.newline, position)
        while at >= 0 and (at - len(self.bom)) % self.unit:
            at = data.find(self.newline, at + 1)
        return len(data) if at < 0 else at + self.unit

    def line_start(self, window: bytes, position: int) -> int:
        """Where the line begins that holds `position`, in bytes without a mark in front."""
        at = window.rfind(self.newline, 0, position)
        while at >= 0 and at % self.unit:
            at = window.rfind(self.newline, 0, at + self.unit - 1)
        return 0 if at < 0 else at + self.unit


UTF8 = Encoding()


def encoding_of(data: bytes) -> Encoding:
    """The encoding of a note; what is not plainly UTF-16 counts as UTF-8."""
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return Encoding(codec, "surrogatepass", 2, mark)
    codec = _unmarked(data[:_SAMPLE]) if b"\0" in data[:_SAMPLE] else ""
    return Encoding(codec, "surrogatepass", 2) if codec else UTF8


def count_lines(data: bytes) -> int:
    r"""How many lines a note of any size has: what `\n` separates, a last one adds none."""
    encoding = encoding_of(data)
    if encoding.unit == 1:
        return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)
    decoder = codecs.getincrementaldecoder(encoding.codec)("replace")
    count, last = 0, "\n"
    for start in range(len(encoding.bom), len(data), _PIECE):
        text = decoder.decode(data[start : start + _PIECE])
        count += text.count("\n")
        last = text[-1:] or last
    return count + (last != "\n")


def _unmarked(sample: bytes) -> str:
    """UTF-16 without a mark: zero bytes on one side of the units only, as of blanks, digits and line ends; or ''."""
    sample = sample[: len(sample) - len(sample) % 2]
    high, low = sample[1::2].count(0), sample[::2].count(0)
    for zeros, others, codec in ((high, low, "utf-16-le"), (low, high, "utf-16-be")):
        if not others and zeros >= max(4, len(sample) // 64):
            text = sample.decode(codec, "replace")
            return codec if "\ufffd" not in text[:-1] else ""
    return ""
