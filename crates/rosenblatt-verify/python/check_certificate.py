#!/usr/bin/env python3
"""Checks a certificate (FORMAT.md, version 1) against its data in exact arithmetic.

    check_certificate.py CERTIFICATE DATA [DATA ...]

DATA may be compressed by gzip, bzip2 or xz; several files are given in the certificate's order.
Exit status: 0 the certificate holds, 1 it is malformed or a file cannot be read, 3 it does not
hold. Standard library only.
"""
import bz2, functools, gzip, hashlib, json, lzma, math, re, sys
from fractions import Fraction
from itertools import zip_longest

class Malformed(Exception): pass
class DoesNotHold(Exception): pass

def require(condition, what, error=DoesNotHold):
    if not condition:
        raise error(what)

# --- Numbers: exact, and of limited size.

@functools.lru_cache(1 << 16)
def number(text):
    """The value of a decimal given as bytes; None if it is not one."""
    found = re.fullmatch(rb"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,4}))?", text)
    sign, whole, decimals, power = (part or b"" for part in found.groups()) if found else [b""] * 4
    digits, power = whole + decimals, int(power or 0)
    if not digits or len(digits) > 1100 or abs(power) > 1100:
        return None
    value, exponent = int(sign + digits), power - len(decimals)
    return value * 10**exponent if exponent >= 0 else Fraction(value, 10**-exponent)

def rational(text):
    """A decimal, an integer, a/b or a*2^b."""
    if number(text.encode()) is not None:
        return number(text.encode())
    found = re.fullmatch(r"([+-]?[0-9]{1,20000})(?:/([0-9]{1,20000})|\*2\^([+-]?[0-9]{1,5}))?", text)
    require(found and int(found[2] or 1) and abs(int(found[3] or 0)) <= 20000, f"rational {text[:40]}", Malformed)
    return Fraction(int(found[1]), int(found[2] or 1)) * Fraction(2) ** int(found[3] or 0)

def integers(values):
    """The values times their common denominator: no condition below tells the difference."""
    common = 1
    for value in values:
        common = math.lcm(common, value.denominator)
        require(common.bit_length() <= 100_000, "common denominator", Malformed)
    return [value.numerator * (common // value.denominator) for value in values]

def exact(pairs):
    """A dict of integers from keys and rationals in text."""
    keys = dict.fromkeys(key for key, _ in pairs)
    require(len(keys) == len(pairs), "a row occurs twice", Malformed)
    return dict(zip(keys, integers([rational(text) for _, text in pairs])))

# --- The certificate: a grammar, then what a grammar cannot say.

def fits(value, form):
    """A form is (alternative, ...); [form of items] or [first, second, ...]; {name: form}, where a
    name with ? may be absent; a pattern, a range, a function, a type or a value."""
    if type(form) is tuple:
        return any(fits(value, alternative) for alternative in form)
    if type(form) is list:
        forms = form * len(value) if type(value) is list and len(form) == 1 else form
        return type(value) is list and len(value) == len(forms) and all(map(fits, value, forms))
    if type(form) is dict:
        forms = {name.rstrip("?"): form[name] for name in form}
        return (type(value) is dict and all(name in value or name + "?" in form for name in forms)
                and all(name in forms and fits(value[name], forms[name]) for name in value))
    if type(form) is re.Pattern:
        return type(value) is str and form.fullmatch(value) is not None
    if type(form) is range:
        return type(value) is int and value in form
    if type(form) is type(fits):
        return form(value)
    return type(value) is form or type(value) is type(form) and value == form

COLUMN = ("label", "ignore", "numeric", "numeric-or-missing",
          {"category": [str]}, {"text": [str]}, {"text-or-missing": [str]})
HASH = {"sha256": re.compile("[0-9a-f]{64}")}
SIZE = {"rows": int, "features": range(4_000_000_001), "comment?": re.compile("[^\r\n]+")}
FORMATS = ({"format": "libsvm", "first_index": range(2)},
           {"format": "csv", "delimiter": re.compile('(?![0-9A-Za-z.+"\r\n-])[\0-\x7f]'),
            "quoting": bool, "header": bool, "columns": [COLUMN]})
CERTIFICATE = {
    "rosenblatt-certificate": 1,
    "data": tuple(SIZE | form | files for form in FORMATS
                  for files in (HASH, {"files": [{"name": str} | HASH]})),
    "labels": ({"positive": [str], "negative": [str]}, {"classes": [[str]]}),
    "bias": ("lifted", "none"),
    "kernel?": ({"name": "linear"}, {"name": ("geometric", "monomial"), "degree": range(1, 65)},
                {"name": "polynomial", "degree": range(1, 65), "scale": str, "constant": str},
                {"name": ("rbf", "laplacian"), "gamma": str}),
    "verdict": ("separable", "quasi-separable", "overlapping", "not-separable"), "witness": dict, "info?": dict}

def load(raw):
    def strict(pairs):
        require(len(dict(pairs)) == len(pairs), "a name occurs twice", Malformed)
        return dict(pairs)
    def natural(text):
        require(text.isdigit() and len(text) <= 20 and int(text) < 2**64, f"number {text[:40]}", Malformed)
        return int(text)
    tree = json.loads(raw.decode(), object_pairs_hook=strict,
                      parse_int=natural, parse_float=natural, parse_constant=natural)
    json.dumps(tree, ensure_ascii=False).encode()  # refuses halves of surrogate pairs
    require(fits(tree, CERTIFICATE), "not of the form that FORMAT.md gives", Malformed)
    require(fits(list(tree.get("info", {}).values()), [str]), "info", Malformed)
    return tree

def column_of(column):
    """Kind, places of its names, number of features."""
    if type(column) is str:
        return column, {}, {"numeric": 1, "numeric-or-missing": 2}.get(column, 0)
    (kind, names), = column.items()
    places = {name.encode(): place for place, name in enumerate(names)}
    require(len(places) == len(names) and (names or kind != "category"), f"names of a {kind} column", Malformed)
    return kind, places, len(names) + {"category": -1, "text": 0, "text-or-missing": 1}[kind]

class Certificate:
    def __init__(self, raw):
        tree = load(raw)
        self.data, self.verdict, self.lifted = tree["data"], tree["verdict"], tree["bias"] == "lifted"
        self.rows, self.features = self.data["rows"], self.data["features"]
        self.hashes = [file["sha256"] for file in self.data.get("files", [self.data])]
        require(self.hashes, "no files", Malformed)
        if self.data["format"] == "csv":
            self.columns = [column_of(column) for column in self.data["columns"]]
            require([kind for kind, _, _ in self.columns].count("label") == 1, "one column is the label", Malformed)
            require(sum(width for _, _, width in self.columns) == self.features, "number of features", Malformed)
            require(not (self.data["quoting"] and self.data["delimiter"] == " "), "quoting", Malformed)
        labels = self.labels = tree["labels"]
        self.several = "classes" in labels
        classes = labels["classes"] if self.several else [labels["negative"], labels["positive"]]
        listed = [(text.encode(), place) for place, texts in enumerate(classes) for text in texts]
        # Labels compare as numbers if all of them are numbers, else by bytes.
        self.label_key = number if all(number(text) is not None for text, _ in listed) else bytes
        self.class_of, self.classes = {self.label_key(text): place for text, place in listed}, len(classes)
        require(len(self.class_of) == len(listed), "a label is listed twice", Malformed)
        self.kernel = tree.get("kernel", {})
        for name in self.kernel.keys() & {"scale", "constant", "gamma"}:
            self.kernel[name] = rational(self.kernel[name])
            require(self.kernel[name] > 0 or self.kernel[name] == 0 and name != "gamma", name, Malformed)
        if self.several:
            require(not self.kernel and self.verdict in ("separable", "not-separable"), "several classes", Malformed)
        self.read_witness(tree["witness"])

    def read_witness(self, witness):
        def vector(value):
            indices = range(1 - self.lifted, self.features + 1)
            return type(value) is dict and all(
                type(text) is str and re.fullmatch("0|[1-9][0-9]{0,9}", index) and int(index) in indices
                for index, text in value.items())
        row, rival, form = range(1, self.rows + 1), range(1, self.classes + 1), {}
        if self.verdict in ("separable", "quasi-separable") and "gamma" not in self.kernel:
            form |= {"alpha": [[row, str]]} if self.kernel else {"w": [vector] if self.several else vector}
        if self.verdict != "separable":
            form["lambda"] = [[row, rival, str] if self.several else [row, str]]
        if self.verdict in ("quasi-separable", "overlapping") and not self.kernel:
            form["null_space?"] = [vector]
        require(fits(witness, form), "witness: not the parts that this verdict needs", Malformed)
        w = witness.get("w", {})
        if self.several:
            require("w" not in form or len(w) == self.classes, "one w for each class", Malformed)
            self.w = exact([((c, int(j)), text) for c, entries in enumerate(w) for j, text in entries.items()])
        else:
            self.w = exact([(int(j), text) for j, text in w.items()])
        self.alpha = exact(witness.get("alpha", []))
        # By row and rival class; with two classes the rival is 0.
        self.weights = exact([((row, sum(rival) - len(rival)), text) for row, *rival, text in witness.get("lambda", [])])
        self.has_null_space = "null_space" in witness
        self.null_space = [exact([(int(j), t) for j, t in entries.items()]) for entries in witness.get("null_space", [])]

# --- The data.

def words(text):
    return [word.lower() for word in re.findall(r"[^\W_]+", text)]

def records(data, layout):
    """The cells of each record of a table, or the tokens of each line of libsvm."""
    comment, delimiter = layout.get("comment", "").encode(), layout.get("delimiter", " ").encode()
    quoted, plain = rb"((?!))", rb"([^D\n]*)"
    if layout.get("quoting"):
        quoted, plain = rb'"([^"]*(?:""[^"]*)*)"', rb'((?!")[^D\n]*)'
    cell = b"(?:" + quoted + b"|" + plain + rb")(D|\r?\n|\r?\Z)"
    cell = re.compile(cell.replace(b"D", re.escape(delimiter)))
    at = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    while at < len(data):
        end = data.find(b"\n", at) % (len(data) + 1)  # all the rest if there is no line end
        line = data[at:end]
        if not line.strip(b" \t\r") or comment and line.startswith(comment):
            layout["skipped"] = layout.get("skipped", 0) + bool(comment and line.startswith(comment))
            at = end + 1
        elif delimiter == b" ":
            at = end + 1
            tokens = re.findall(rb"[^ \t\r]+", line.split(b"#")[0] if layout["format"] == "libsvm" else line)
            if tokens:
                yield tokens
        else:
            cells, separator = [], delimiter
            while separator == delimiter:
                found = cell.match(data, at)
                require(found, "a quote that does not enclose a cell")
                cells.append(found[2].strip(b" \t\r") if found[1] is None else found[1].replace(b'""', b'"'))
                at, separator = found.end(), found[3]
            yield cells

def code_pairs(tokens, layout, x):
    """Adds the features of a line of libsvm to x and gives its label."""
    for token in tokens[1:]:
        if not token.startswith(b"qid:"):
            found = re.fullmatch(rb"([0-9]{1,15}):(.*)", token)
            value = found and number(found[2])
            require(value is not None, f"{token!r} is not index:value")
            feature = int(found[1]) + 1 - layout["first_index"]
            require(1 <= feature <= layout["features"] and feature not in x, f"index of {token!r}")
            x[feature] = value
    return tokens[0]

def code_cells(cells, columns, x):
    """Adds the features of a record to x and gives its label."""
    require(len(cells) == len(columns), f"{len(cells)} cells")
    first = 1
    for (kind, places, width), cell in zip(columns, cells):
        missing = cell in (b"", b"?", b"NA", b"NaN", b"nan")
        if kind == "label":
            label = cell
        elif kind.startswith("numeric"):
            x[first] = 0 if missing and width == 2 else number(cell)
            require(x[first] is not None, f"{cell!r} is not a number")
        elif kind == "category":
            place = places.get(b"?" if missing else cell)
            require(place is not None, f"{cell!r} is not a listed level")
            if place > 0:  # the first level is the reference
                x[first + place - 1] = 1
        elif kind.startswith("text") and not missing:
            for word in words(cell.decode()):
                if word.encode() in places:
                    feature = first + places[word.encode()]
                    x[feature] = x.get(feature, 0) + 1
        if missing and kind.endswith("-or-missing"):
            x[first + width - 1] = 1
        first += width
    return label

def all_records(files, certificate):
    """The records of all files, without their headers, which must be one."""
    for data in files:
        source = records(data, certificate.data)
        if certificate.data.get("header") and (header := next(source, None)):
            names = [cell.decode(errors="replace") for cell in header]
            require(getattr(certificate, "header", names) == names, "the headers are not one")
            certificate.header = names
        yield from source

def read_rows(files, certificate):
    """Row number, class and features; feature 0 is the lifted constant, which a kernel adds itself."""
    row = 0
    for row, cells in enumerate(all_records(files, certificate), 1):
        x = {0: 1} if certificate.lifted and not certificate.kernel else {}
        table = certificate.data["format"] == "csv"
        label = code_cells(cells, certificate.columns, x) if table else code_pairs(cells, certificate.data, x)
        place = certificate.class_of.get(certificate.label_key(label))
        require(place is not None, f"row {row}: label {label!r} is not listed")
        yield row, place, x
    require(row == certificate.rows, f"the data have {row} rows")

# --- The proof. A row is a vector z (with several classes, one for each rival) in a space that
# depends on the claim: features; class and feature; kernel values with some rows; distinct rows.

def dot(vector, x):
    return sum(vector[j] * value for j, value in x.items() if j in vector)

def kernel_value(kernel, lifted, x, z):
    t, degree = dot(x, z), kernel.get("degree", 1)
    if kernel["name"] == "polynomial":
        t = (kernel["scale"] * t + kernel["constant"]) ** degree
    elif kernel["name"] == "geometric":
        t = sum(t**k for k in range(degree + 1))
    elif kernel["name"] == "monomial":  # the complete homogeneous sum of 1 and the products
        sums = [1] * (degree + 1)
        for j in x.keys() & z.keys():
            for k in range(1, degree + 1):
                sums[k] += x[j] * z[j] * sums[k - 1]
        t = sums[degree]
    return t + lifted

def vectors_of(certificate, place, x, chosen):
    """Rival and vector z of a row, for each rival."""
    if certificate.several:
        for rival in set(range(certificate.classes)) - {place}:
            yield rival, {(c, j): sign * v for c, sign in ((place, 1), (rival, -1)) for j, v in x.items()}
        return
    if "gamma" in certificate.kernel:  # strictly positive definite: distinct rows are independent
        x = {frozenset((j, v) for j, v in x.items() if v): 1}
    elif certificate.kernel:
        x = {i: kernel_value(certificate.kernel, certificate.lifted, x, z) for i, z in chosen.items()}
    yield 0, x if place == 1 else {j: -v for j, v in x.items()}

def rank(rows, prime):
    """The rank of sparse rows of integers modulo a prime."""
    echelon = {}
    for row in rows:
        row = {j: v % prime for j, v in row.items() if v % prime}
        while row and min(row) in echelon:
            factor, pivot = row[min(row)], echelon[min(row)]
            for j, v in pivot.items():
                value = (row.pop(j, 0) - factor * v) % prime
                if value:
                    row[j] = value
        if row:
            inverse = pow(row[min(row)], -1, prime)
            echelon[min(row)] = {j: v * inverse % prime for j, v in row.items()}
    return len(echelon)

def spans(rows, dimensions):
    # Modulo a prime a rank can only drop: where it is large enough, that proves the true one.
    return len(rows) >= dimensions and any(rank(rows, prime) >= dimensions for prime in (2**61 - 1, 2**61 - 31))

def check(certificate, files):
    verdict, weights, w = certificate.verdict, certificate.weights, certificate.w
    require(len(files) == len(certificate.hashes), f"it speaks of {len(certificate.hashes)} files, these are {len(files)}")
    for place, (data, known) in enumerate(zip(files, certificate.hashes), 1):
        require(hashlib.sha256(data).hexdigest() == known, f"file {place}: the hash is that of other data")
    rows, chosen = read_rows(files, certificate), {}
    if certificate.kernel:
        rows, w = list(rows), dict(certificate.alpha)
        chosen = {i: rows[i - 1][2] for i in {row for row, _ in weights} | w.keys()}
    if "gamma" in certificate.kernel:  # the best w there is: 0 where equal rows have both labels
        for _, place, x in rows:
            (_, z), = vectors_of(certificate, place, x, chosen)
            (group, y), = z.items()
            w[group] = y if w.get(group, y) == y else 0
    separated, support, sums = 0, [], {}
    for row, place, x in rows:
        scale = 1
        if not certificate.kernel:  # whole numbers are faster, and have the same signs
            scale = math.lcm(*(v.denominator for v in x.values()))
            x = {j: v.numerator * (scale // v.denominator) for j, v in x.items()}
        require(not certificate.several or (row, place) not in weights, f"row {row}: a weight against its own class")
        for rival, z in vectors_of(certificate, place, x, chosen):
            side = 0
            if verdict in ("separable", "quasi-separable"):
                side = dot(w, z)
                require(side > 0 or side == 0 and verdict != "separable", f"row {row} is not on its own side")
                separated += side > 0
            if side == 0:
                require(not any(dot(vector, z) for vector in certificate.null_space), f"row {row} against null_space")
            weight = weights.get((row, rival), 0)
            require(weight >= 0, f"row {row}: a negative weight")
            if weight > 0:
                support.append(z)
                for j, v in z.items():
                    sums[j] = sums.get(j, 0) + Fraction(weight, scale) * v
    require(verdict != "quasi-separable" or separated, "no row is on its own side")
    if verdict == "separable":
        return
    require(support, "lambda is zero")
    require(not any(sums.values()), "the weighted rows do not cancel")
    if certificate.has_null_space:
        dimension, basis = certificate.features + certificate.lifted, certificate.null_space
        require(len(basis) <= dimension and spans(basis, len(basis)), "null_space is not independent")
        require(spans(support, dimension - len(basis)), "the rows of lambda span too little")
    elif verdict == "overlapping":
        require(len(support) == certificate.rows, "without null_space, lambda is needed on every row")

def verify(raw, *files):
    """Exit status and message for a certificate and its data, all in bytes."""
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    try:
        certificate = Certificate(raw)
    except (Malformed, ValueError, RecursionError) as error:
        return 1, f"malformed certificate: {error}"
    try:
        check(certificate, files)
    except (DoesNotHold, UnicodeDecodeError) as error:
        return 3, f"does not hold: {error}"
    space = f" in the space of the kernel {certificate.kernel['name']}" if certificate.kernel else ""
    holds = f"holds: {certificate.rows} rows, {certificate.features} features, {certificate.verdict}{space}"
    return 0, "\n".join([holds, *question(certificate)])

def question(certificate):
    """Lines that say what was asked: another reading of the file may have another answer."""
    layout, header = certificate.data, getattr(certificate, "header", None)
    if layout.get("comment"):
        yield f"rows: {layout.get('skipped', 0)} lines left out, starting with {layout['comment']!r}"
    if header is not None:
        yield f"header, not used as a row: {', '.join(header)!r}"
    if layout["format"] == "csv":
        yield "columns: " + ", ".join(
            f"{name!r} {kind}" if name is not None else str(kind)
            for name, (kind, _, _) in zip_longest((header or [])[: len(certificate.columns)], certificate.columns))
    yield f"labels: {certificate.labels}"
    yield f"bias: {'lifted' if certificate.lifted else 'none'}"
    kernel = ", ".join(f"{name}={value}" for name, value in certificate.kernel.items())
    yield f"kernel: {kernel}; nothing is said about hyperplanes in the columns" if kernel else "kernel: none"

def unpacked(data):
    for magic, module in ((b"\x1f\x8b", gzip), (b"BZh", bz2), (b"\xfd7zXZ\0", lzma)):
        if data.startswith(magic):
            return module.decompress(data)
    return data

if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: check_certificate.py CERTIFICATE DATA [DATA ...]")
    try:
        certificate, *files = (open(path, "rb").read() for path in sys.argv[1:])
        status, message = verify(certificate, *map(unpacked, files))
    except (OSError, EOFError, lzma.LZMAError) as error:
        status, message = 1, error
    print(message)
    sys.exit(status)
