"""Pieces of the pictures in docs/ that are drawn as text: colours for light and dark pages, and a frame."""

from xml.sax.saxutils import escape

STYLE = """<style>
    svg { --paper: #ffffff; --ink: #14202b; --soft: #51606e; --line: #44576a; --grid: #dfe5ea;
          --box: #eef4fa; --ours: #0b6bcb; --other: #8d99a6; }
    @media (prefers-color-scheme: dark) {
      svg { --paper: #15191e; --ink: #e8edf2; --soft: #a7b4c0; --line: #8fa3b7; --grid: #303942;
            --box: #222c37; --ours: #58a6ff; --other: #77838f; }
    }
    text { fill: var(--ink); }
    .soft { fill: var(--soft); }
    .mono { font-family: ui-monospace, monospace; }
    .box { fill: var(--box); stroke: var(--line); stroke-width: 1.2; }
    .line { stroke: var(--line); stroke-width: 1.4; fill: none; }
    .ours { fill: var(--ours); }
    .other { fill: var(--other); }
    .grid { stroke: var(--grid); }
  </style>"""


def frame(width: int, height: int, title: str, parts: list[str]) -> str:
    """An SVG of that size in pixels, on paper of its own, so that it is legible on any page."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            'font-family="system-ui, sans-serif" font-size="13">',
            f"  <title>{escape(title)}</title>",
            f"  {STYLE}",
            '  <defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path d="M0 0L8 4L0 8z" fill="var(--line)"/></marker></defs>',
            f'  <rect width="{width}" height="{height}" rx="8" fill="var(--paper)"/>',
            *(f"  {part}" for part in parts),
            "</svg>\n",
        ]
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start", size: float = 0) -> str:
    """Words at a place; ``kind`` is a class of the style."""
    shown = f' class="{kind}"' if kind else ""
    shown += f' text-anchor="{anchor}"' if anchor != "start" else ""
    shown += f' font-size="{size:g}"' if size else ""
    return f'<text x="{x:g}" y="{y:g}"{shown}>{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="box" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>'


def arrow(path: str) -> str:
    return f'<path class="line" d="{path}" marker-end="url(#a)"/>'
