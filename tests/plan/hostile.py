"""Plans that somebody wrote to break their reader: a name, the file's bytes, the line and the words of the answer.

Words of None mean a plan that looks bad and is none: it is read and expands.
"""

from __future__ import annotations

Row = tuple[str, bytes, int, str | None]

HEAD = "name: x\nhosts: node[1-2]\nfabrics: {g: {lab: gige}}\n"
TAIL = "benchmarks: {ping_pong: {sizes: [64]}}\n"


def _row(name: str, line_4: str, says: str | None, *, line: int = 4) -> Row:
    """Return a plan that is good but for its fourth line."""
    return name, f"{HEAD}{line_4}\n{TAIL}".encode("utf-8", "surrogatepass"), line, says


def _hosts(name: str, hosts: str, says: str | None) -> Row:
    return name, f"name: x\nhosts: {hosts}\nplacements: [intra]\n{TAIL}".encode(), 2, says


def _sweep(name: str, benchmark: str, says: str | None, more: str = "floor: true") -> Row:
    return name, f"{HEAD}{more}\nbenchmarks:\n  {benchmark}\n".encode(), 6, says


def _whole(name: str, content: str | bytes, line: int, says: str | None) -> Row:
    return name, content.encode() if isinstance(content, str) else content, line, says


MANY = ", ".join(map(str, range(1, 101)))
WIDE = f"[{MANY}]"
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)
QUADRATIC = f"a: &a [{', '.join(['x'] * 900)}]\nb: [{', '.join(['*a'] * 900)}]\n"
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 100))

BYTES: list[Row] = [
    _whole("a NUL in a value", b"name: a\0b\n", 1, "U+0000"),
    _whole("a NUL as the whole file", b"\0", 1, "U+0000"),
    _whole("a terminal's escape sequence", b"name: x\ndescription: \x1b]0;owned\x07\n", 2, "U+001B"),
    _whole("a bell in a comment", b"name: x\n# \x07\n", 2, "U+0007"),
    _whole("a C1 control character", "name: x\nhosts: a\u009bb\n", 2, "U+009B"),
    _whole("text that runs from right to left", "name: x\ndescription: \u202egnp.exe\n", 2, "U+202E"),
    _whole("a next line of old mainframes", "name: x\ndescription: a\u0085launches: 7\n", 2, "U+0085"),
    _whole("a paragraph separator in a comment", "name: x\n# a\u2029b\n", 2, "U+2029"),
    _whole("a line separator in a name", "name: x\nhosts: a\u2028b\n", 2, "U+2028"),
    _whole("Latin-1", "name: x\ndescription: Zürich\n".encode("latin-1"), 2, "no UTF-8"),
    _whole("UTF-16", "name: x\n".encode("utf-16"), 1, "no UTF-8"),
    _whole("an overlong UTF-8 sequence", b"name: x\nhosts: \xc0\xaf\n", 2, "no UTF-8"),
    _whole("half a surrogate pair in UTF-8", b"name: x\nhosts: \xed\xa0\x80\n", 2, "no UTF-8"),
    _whole("a program", b"\x7fELF\x02\x01\x01\0\0\0", 1, "U+007F"),
    _whole("an empty file", b"", 1, "mapping of keys"),
    _whole("comments alone", b"# nothing\n", 1, "mapping of keys"),
    _whole("a list", b"- a\n", 1, "mapping of keys"),
    _whole("a word", b"plan\n", 1, "mapping of keys"),
    _whole("two documents", b"name: x\n---\nname: y\n", 2, "not YAML"),
    _whole("a file of 300 KiB", b"#" * 300_000, 0, "more than 256 KiB"),
    _whole("a mark of byte order", b"\xef\xbb\xbf" + (HEAD + TAIL).encode(), 1, None),
    _whole("carriage returns", (HEAD + TAIL).replace("\n", "\r\n").encode(), 1, None),
]

YAML: list[Row] = [
    _row("a tag of one's own", "description: !foo bar", "tag '!foo' has no meaning"),
    _row("a tag of Python", "description: !!python/object/apply:os.system [id]", "has no meaning"),
    _row("a tag by its address", "description: !<tag:evil> x", "has no meaning"),
    _row("a binary", "description: !!binary aGVsbG8=", "tag '!!binary' has no meaning"),
    _row("a set", "submit: !!set {a, b}", "tag '!!set' has no meaning"),
    _row("an ordered mapping", "mpi: !!omap [a: b]", "tag '!!omap' has no meaning"),
    _row("a tagged key", "!foo description: x", "has no meaning"),
    _row("a number by tag that is none", "launches: !!int many", "is no number"),
    _row("a truth by tag that is none", "floor: !!bool perhaps", "not what its tag says"),
    _row("a date that is none", "description: 2001-02-30", None),
    _row("a date", "description: 2001-02-03", None),
    _row("a time with a zone beyond all", "description: 2001-02-03T04:05:06+99:99", None),
    _row("a number of launches that is a date", "launches: 2001-02-30", "launches"),
    _row("infinity", "budget: .inf", "number that no plan can have"),
    _row("minus infinity", "margin: -.inf", "number that no plan can have"),
    _row("not a number", "margin: .nan", "number that no plan can have"),
    _row("a float beyond all", "budget: 1.0e+999", "number that no plan can have"),
    _row("400 digits", f"seed: {'9' * 400}", "number that no plan can have"),
    _row("5,000 digits", f"launches: {'9' * 5000}", "number that no plan can have"),
    _row("400 digits of hexadecimal", f"seed: 0x{'f' * 400}", "number that no plan can have"),
    _row("a number of underscores", "seed: 0x_", "is no number"),
    _row("more than 64 bits", "seed: 9223372036854775808", "number that no plan can have"),
    _row("a NUL by an escape", 'description: "a\\0b"', "U+0000"),
    _row("a surrogate by an escape", 'description: "\\ud800"', "U+D800"),
    _row("a character beyond Unicode", 'description: "\\UFFFFFFFF"', "not YAML", line=1),
    _row("an escape sequence in a key", '"a\\eb": 1', "U+001B"),
    _row("a line of a label", 'mpi: [{name: "a\\nb"}]', "no name"),
    _row("a list as a key", "? [a, b]\n: c", "a key is a word"),
    _row("a mapping as a key", "? {a: b}\n: c", "a key is a word"),
    _row("a merge key", "<<: {launches: 7}", "merge keys"),
    _row("a key twice", "description: a\ndescription: b", "the first is in line 4", line=5),
    _row("a key twice, once in quotes", "launches: 3\n'launches': 4", "the first is in line 4", line=5),
    _row("a key of 300 characters", f"{'k' * 300}: 1", "longer than 200"),
    _row("a text of 20,000 characters", f"description: {'x' * 20_000}", "longer than 10000"),
    _row("an alias of nothing", "description: *nothing", "undefined alias"),
    _row("an alias in itself", "submit: &a {attributes: *a}", "itself a part of"),
    _row("a list in itself", "pairs: &a [*a]", "itself a part of"),
    _row("two that hold each other", "submit: &a [&b [*a, *b]]", "itself a part of"),
    _row("an anchor of another value", "description: &d hello", None),
    _row("900 levels of lists", f"pairs: {'[' * 900}{']' * 900}", "more than 32 levels"),
    _row("900 levels of mappings", f"submit: {'{a: ' * 900}1{'}' * 900}", "more than 32 levels"),
    _row("900 levels of dashes", f"pairs:\n{'- ' * 900}1", "more than 32 levels", line=5),
    _row("100,000 brackets", f"pairs: {'[' * 100_000}", "more than 32 levels"),
    _whole("an alias bomb", BOMB, 1, "more than 10000 values"),
    _whole("a quadratic bomb", QUADRATIC, 1, "more than 10000 values"),
    _whole("a chain of aliases", CHAIN, 1, "more than 32 levels"),
    _whole("20,000 values", "a: [" + "x, " * 20_000 + "]\n", 1, "more than 10000 values"),
    _whole("a directive of 5,000 digits", f"%YAML 1.{'9' * 5000}\n---\nname: x\n", 1, "not YAML"),
    _whole("a directive of version 9", "%YAML 9.9\n---\nname: x\n", 1, "not YAML"),
    _whole("a tab", "name: x\n\thosts: a\n", 2, "indent with spaces"),
    _whole("an open quote", 'name: "x\n', 1, "not YAML"),
]


def _lab(name: str, keys: str, says: str | None, *, line: int = 3) -> Row:
    return name, (HEAD + TAIL).replace("lab: gige", f"lab: {{preset: gige, {keys}}}").encode(), line, says


LABS: list[Row] = [
    _lab("links that are down for too long", "flap_period: 1s, flap_down: 2s", "longer than their period"),
    _lab("links that are down for no time", "flap_period: 1s", "add `flap_down:`"),
    _lab("frames held back for no time", "reorder: 1%", "add `reorder_delay:`"),
    _lab("a delay of no frame", "reorder_delay: 1ms", "add `reorder:`"),
    _lab("a pause without a buffer", "on_full: pause, buffer: 0", "add `buffer:`"),
    _lab("a buffer that holds no frame", "buffer: 2", "no whole frame of 1514 bytes fits into a buffer of 2"),
    _lab("a buffer beyond the switch", "buffer: 1048576GiB", "more than 10^15 bytes"),
    _lab("an MTU that IPv4 does not know", "mtu: 67", "an MTU of 67 bytes is outside 576 to 9000"),
    _lab("an MTU beyond the switch", "mtu: 9001", "outside 576 to 9000"),
    _lab("a rate beyond the switch", "rate: 2000000Gb/s", "rate is more than 10^15 b/s"),
    _lab("a loss of everything", "loss: 1", "write for example `loss: 1%`"),
    _lab("a loss of more than everything", "loss: 101%", "is not a share"),
    _lab("every frame dropped", "drop_every: 1", "nothing can be measured"),
    _lab("a delay beyond patience", "delay: 1min", "there and back takes 120 s at least, and a case fails after 10 s"),
    _lab("a rate beyond patience", "rate: 1", "choose another rate"),
    _lab("a rate of a fraction", "rate: 0.1", "is not a whole number of bits per second"),
    _lab("a rate with an exponent", "rate: 1.0e+8", None),
    _lab("a loss without its zero", "loss: .5", None),
    _lab("a delay of less than anything", "delay: 0.4ns", "less than a nanosecond"),
    _lab("a buffer of bits", "buffer: 1Mb", "may be bits: write 1MB for bytes"),
    _lab("a negative delay", "delay: -5us", "is not a duration"),
    _lab("a seed beyond the switch", "fault_seed: 9223372036854775807", "fault_seed is more than 2^62"),
    _whole("300 hosts in a lab", HEAD.replace("1-2", "1-300") + TAIL, 2, "a lab has 1 to 256 hosts, not 300"),
    _whole("hosts of a lab that differ in case", HEAD.replace("node[1-2]", "a,A") + TAIL, 2, "case does not count"),
    _whole("a host of a lab that is an address", HEAD.replace("node[1-2]", "a,7") + TAIL, 2, "for an address"),
    _whole("a host of a lab called localhost", HEAD.replace("node[1-2]", "a,localhost") + TAIL, 2, "something else"),
    _whole("a fabric of a lab with a blank", (HEAD + TAIL).replace("{g:", "{a b:"), 3, "fabric's name in a lab"),
    _whole("a fabric with a Cyrillic letter", (HEAD + TAIL).replace("{g:", "{g\u0456ge:"), 3, "in one alphabet"),
    _whole("a fabric with a blank of no width", (HEAD + TAIL).replace("{g:", "{gi\u200bge:"), 3, "U+200B"),
    _whole(
        "a line rate of an emulated fabric", (HEAD + TAIL).replace("lab: gige", "lab: gige, line_rate: 1Gb/s"), 3,
        "line_rate is of a real interface",
    ),
]  # fmt: skip

SPELLINGS: list[Row] = [
    _row("an octal number", "launches: 010", "take '010' for 8, a number in octal"),
    _row("an octal number with a sign", "seed: +017", "a number in octal"),
    _row("an octal number by tag", "seed: !!int 010", "a number in octal"),
    _row("an account that looks octal", "submit: {account: 0123}", "and text in quotes"),
    _row("an account that looks octal, in quotes", "submit: {account: '0123'}", None),
    _row("minutes and seconds", "budget: 1:30", "take '1:30' for 90, a number in base 60"),
    _row("a fraction of a minute", "budget: 1:30.5", "a number in base 60"),
    _row("hours of a job", "submit: {attributes: {time: 1:30:00}}", "a number in base 60"),
    _row("hexadecimal digits", "seed: 0x10", None),
    _row("digits in groups", "seed: 1_000", None),
    _row("a number with an exponent", "launches: 1e3", "write it in digits, such as 1000"),
    _row("a truth as a queue", "submit: {queue: on}", "put it in quotes"),
    _row("a truth as a description", "description: no", "put it in quotes"),
    _row("a truth by another word", "floor: off", None),
    _row("nothing by tag that is something", "paper: !!null hello", "not what its tag says"),
    _row("a group without quotes", "intra_fabrics: @all", "in quotes"),
    _row("brackets without quotes", "submit: {queue: a[1-2]}", "put text that has brackets in quotes"),
    _row("a number as a fabric", "intra_fabrics: [1]", "text is expected, not 1 -- put it in quotes"),
    _row("a seed of 70 bits in quotes", "seed: '1180591620717411303424'", "at most 9223372036854775807 is expected"),
    _row("a word where a list may stand", "compare: fabric", None),
    _row("an MPI library over no fabric", "mpi: [{name: m, fabrics: []}]", "nothing stands in it"),
    _row("nothing to compare", "compare: []", "nothing stands in it"),
    _row("a margin of everything", "margin: 100%", "less than 1"),
    _row("a margin of one that was meant as one percent", "margin: 1", "less than 1"),
    _row("a time-out of a nanosecond", "case_timeout: 1ns", "1ns is less than 1ms: write 1ms or more"),
]

HOSTS: list[Row] = [
    _hosts("999,999,999 hosts", "node[1-999999999]", "names up to 999999999 hosts"),
    _hosts("hosts beyond counting", f"node[1-{'9' * 60}]", "more hosts than can be counted"),
    _hosts("hosts by 5,000 digits", f"node[1-{'9' * 5000}]", "more hosts than can be counted"),
    _hosts("ranges multiplied", "r[1-1000]c[1-1000]n[1-1000]", "names up to 1000000000 hosts"),
    _hosts("ranges in turn", "a[1-5000],b[1-5000]", "names up to 10000 hosts"),
    _hosts("a range of three", "node[1-999999-99]", "names up to 1000099 hosts"),
    _hosts("many taken out of more", "n[1-1000000]!n[1-999999]", "names up to 1999999 hosts"),
    _hosts("5,000 hosts", "n[1-5000]", "5000 hosts are more than 4096"),
    _hosts("a range backwards", "n[5-1]", "no host list"),
    _hosts("a range without steps", "n[1-5/0]", "no host list"),
    _hosts("brackets in brackets", '"n[[1-2]]"', "no host list"),
    _hosts("a bracket left open", '"n[1-"', "no host list"),
    _hosts("an option for ssh", "-oProxyCommand=id", "no host's name"),
    _hosts("an option among hosts", '"a,-G"', "no host's name"),
    _hosts("words", "a b", "no host's name"),
    _hosts("a command", '"$(id)"', "no host's name"),
    _hosts("a path", "../../etc", "no host's name"),
    _hosts("a line", '"a\\nb"', "no host's name"),
    _hosts("a name of 300 characters", "h" * 300, "no host's name"),
    _hosts("no host", '""', "the host list is empty"),
    _hosts("nothing", "", "nothing stands behind it"),
    _hosts("a truth", "true", "no host list"),
    _hosts("a list in a list", "[a, [b]]", "no host list"),
    _hosts("a mapping", "{a: b}", "no host list"),
    _hosts("a group that does not exist", '"@no-such-source:group"', "no host list"),
    _row("guests beyond counting", "guests: node[1-999999999]", "names up to 999999999 hosts"),
    _row("a guest that is an option", "guests: -oX", "no host's name"),
]

VALUES: list[Row] = [
    _row("a list among counts", "ranks: [2, []]", "neither a count"),
    _row("a mapping as a count", "pairs: [{a: b}]", "neither a count"),
    _row("a truth as a count", "pairs: true", "neither a count"),
    _row("a list as the layer", "layers: [[tcp]]", "layers"),
    _row("a number as the layers", "layers: 5", "layers"),
    _row("null as the layers", "layers:", "layers"),
    _row("no layers", "layers: []", "layers"),
    _row("10**9 launches", "launches: 1000000000", "launches"),
    _row("a budget of 10**30 s", f"budget: {'1' + '0' * 20}s", "more than a year"),
    _row("a budget of 400 digits", f"budget: {'9' * 400}s", "is not a duration"),
    _row("a budget that is a list", "budget: [60s]", "is not a duration"),
    _row("a budget of nothing", "budget: 0s", "0s is less than 3ms, which one burst of"),
    _row("a time-out of a thousand years", "case_timeout: 9000000h", "more than a year"),
    _row("a margin of 400 digits", f"margin: '{'9' * 400}%'", "is not a share"),
    _row("digits of another script", "budget: '\u0663s'", "is not a duration"),
    _row("an interface as an option", "intra_fabrics: [-x]", "there is no fabric"),
    _row("100 fabrics", "fabrics2: 1", "no key 'fabrics2'"),
    _row("a name of an MPI library that is a path", "mpi: [../../x]", "no name"),
    _row("an MPI library that is a list", "mpi: [[m]]", "mpi: "),
    _row("the name of a variable with a line", 'mpi: [{name: m, env: {"A B": "1"}}]', "environment variable's name"),
    _row(
        "the value of a variable with a line", 'mpi: [{name: m, env: {A: "1\\nB=2"}}]', "environment variable's value"
    ),
    _row("processors below none", "mpi: [{name: m, bind: [-1]}]", "list of processors"),
    _row("processors that are lists", "mpi: [{name: m, bind: [[0]]}]", "list of processors"),
    _row("an ssh with an open quote", 'ssh: "ssh \'x"', "cannot be split into words"),
    _row("an ssh of nothing", "ssh: ' '", "names no program"),
    _row("an ssh that is a list", "ssh: [ssh]", "ssh"),
    _row("a queue that is an option", "submit: {queue: --wrap=id}", "characters that a name cannot have"),
    _row("an attribute with a line", 'submit: {attributes: {a: "b\\n#SBATCH --x"}}', "characters that a name cannot"),
    _row("a paper elsewhere", "paper: {file: ../paper.yaml}", "beside the plan"),
    _row("a paper at an absolute path", "paper: {file: /etc/passwd}", "beside the plan"),
    _row("a paper over the run's journal", "paper: {file: journal.jsonl}", "beside the plan"),
    _row("a paper that is a folder", "paper: {file: .}", "beside the plan"),
    _row("a paper that is not there", "paper: {file: none.yaml}", "there is no none.yaml beside the plan"),
    _row("a control that is a list", "control: [a]", "control"),
    _row("a control of no entry", "control: nothing", "no entry 'nothing'"),
    _row("a name that climbs", "version: 2", "version"),
    _whole("a run folder elsewhere", f"name: ../../x\n{HEAD[8:]}{TAIL}", 1, "characters that a name cannot have"),
    _whole("a name of 5,000 characters", f"name: {'x' * 5000}\n{HEAD[8:]}{TAIL}", 1, "too long"),
    _whole("a fabric of a name that is a path", (HEAD + TAIL).replace("{g:", "{../g:"), 3, "no name"),
    _whole("a fabric of no name", (HEAD + TAIL).replace("{g:", "{'':"), 3, "no name"),
    _whole(
        "an interface that is an option", (HEAD + TAIL).replace("lab: gige", "interface: -x"), 3, "interface's name"
    ),
    _whole("two interfaces in one", (HEAD + TAIL).replace("lab: gige", "interface: 'a,b'"), 3, "interface's name"),
    _whole("a rate beyond all", (HEAD + TAIL).replace("gige", "{rate: 99999999999Tb/s}"), 3, "more than 10^18"),
    _whole("a delay of a thousand years", (HEAD + TAIL).replace("gige", "{delay: 9000000h}"), 3, "more than a year"),
    _whole(
        "100 fabrics",
        (HEAD + TAIL).replace("{g: {lab: gige}}", f"{{{', '.join(f'f{n}: {{lab: gige}}' for n in range(100))}}}"),
        3,
        "at most 64",
    ),
]

SWEEPS: list[Row] = [
    _sweep("sizes without end", "ping_pong: {sizes: 1..64EiB}", "is not a size"),
    _sweep("sizes of 400 digits", f"ping_pong: {{sizes: 1..{'9' * 400}}}", "is not a size"),
    _sweep("sizes backwards", "ping_pong: {sizes: 64..1}", "backwards"),
    _sweep("sizes below nothing", "ping_pong: {sizes: [-1]}", "negative"),
    _sweep("a size of a fraction", "ping_pong: {sizes: 1.5}", "not"),
    _sweep("a size that is a list", "ping_pong: {sizes: [[64]]}", "is not a size"),
    _sweep("sizes that are nothing", "ping_pong: {sizes: }", "nothing stands behind it"),
    _sweep("a perturbation beyond the size", "ping_pong: {sizes: {from: 1, to: 1GiB, perturbation: 1GiB}}", "1MiB"),
    _sweep("sizes with a list as their end", "ping_pong: {sizes: {from: [1], to: 2}}", "is not a size"),
    _sweep(
        "seven sweeps of 100 values",
        f"ping_pong: {{sizes: {WIDE}, window: {WIDE}, socket: {{send_buffer: {WIDE}, receive_buffer: {WIDE},"
        f" busy_poll_us: {WIDE}}}}}",
        "are up to 100000000 cases",
    ),
    _sweep(
        "sweeps of verbs",
        f"bandwidth: {{verbs: {{inline_limit: {WIDE}, queue_depth: {WIDE}, signal_every: [1, 2], ack_timeout: [1]}}}}",
        "cases",
        "layers: [verbs]",
    ),
    _sweep("10,000 windows", f"bandwidth: {{window: [{', '.join(map(str, range(1, 4000)))}]}}", "cases"),
    _sweep("a window of 10**9", "bandwidth: {window: 1000000000}", "4096"),
    _sweep("a truth as a root", "bcast: {root: off}", "'false' is not possible", "mpi: [m]"),
    _sweep("a window of one message", "ping_pong: {window: 16}", "ping_pong has no window"),
    _sweep(
        "socket options of no layer", "ping_pong: {socket: {send_buffer: 1KiB}}", "add tcp to layers", "layers: [shm]"
    ),
    _sweep(
        "socket options of nowhere", "ping_pong: {socket: {placements: [intra], send_buffer: 1}}", "name one of inter"
    ),
    _sweep("an empty sweep", "ping_pong: {socket: {send_buffer: []}}", "list is empty"),
    _sweep("an empty window", "bandwidth: {window: []}", "nothing stands in it"),
    _sweep("a buffer beyond C", "ping_pong: {socket: {send_buffer: 4GiB}}", "at most 2147483647 is expected, not"),
    _sweep("a line in a socket option", 'ping_pong: {socket: {congestion_control: "reno\\nend"}}', "characters that"),
    _sweep(
        "a field in a socket option", "ping_pong: {socket: {congestion_control: reno budget_ns=1}}", "characters that"
    ),
    _sweep("a list in a socket option", "ping_pong: {socket: {congestion_control: [[reno]]}}", "congestion_control"),
    _sweep("a benchmark that is a list", "ping_pong: [1]", "a mapping is expected"),
    _sweep("a benchmark of another name", '"ping_pong\\nend": {}', "no benchmark"),
    _sweep("a datatype that is a list", "allreduce: {datatype: [[float]]}", "is not possible"),
    _sweep("a datatype of 9,000 characters", f"allreduce: {{datatype: {'x' * 9000}}}", "is not possible"),
]

HOSTILE = BYTES + YAML + SPELLINGS + LABS + HOSTS + VALUES + SWEEPS
