"""The server in the eyes of clients that others wrote, and of our own."""

import csv
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from rosenblatt import Client, Perceptron, files
from rosenblatt.client import ServerError

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "target" / "debug" / "rosenblatt"
PENGUINS = ROOT / "examples" / "penguins.csv"

if not PROGRAM.exists():
    if os.environ.get("CI"):
        raise FileNotFoundError(f"{PROGRAM}: cargo test builds it")
    pytest.skip("the program is built by cargo test", allow_module_level=True)


@pytest.fixture
def serve():
    """Starts servers; gives their addresses."""
    running = []

    def start(*args):
        command = [PROGRAM, "serve", "--quiet", "--listen", "127.0.0.1:0", *map(str, args)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        running.append(process)
        url = process.stdout.readline().strip()
        assert url.startswith("http"), command
        start.process = process
        return url

    yield start
    for process in running:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def penguins(tmp_path_factory):
    model = tmp_path_factory.mktemp("models") / "penguins.rbm"
    subprocess.run(
        [PROGRAM, "train", PENGUINS, "--label", "species", "--epochs", "1", "-o", model, "-q"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return model


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """A model of three numeric columns, its rows and its scores."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)).astype(np.float32)
    y = np.where(X @ [1, 2, -1] > 0, "yes", "no")
    model = tmp_path_factory.mktemp("models") / "numbers.rbm"
    classifier = Perceptron().fit(X, y)
    files.save(classifier, model)
    return model, X, classifier


def test_tritons_client_infers_json_and_binary(serve, numbers):
    import tritonclient.http as http

    model, X, classifier = numbers
    client = http.InferenceServerClient(serve(model).removeprefix("http://"))
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("numbers") and not client.is_model_ready("other")
    assert client.get_server_metadata()["name"] == "rosenblatt"
    metadata = client.get_model_metadata("numbers")
    assert metadata["inputs"] == [{"name": "input", "datatype": "FP32", "shape": [-1, 3]}]
    assert [o["name"] for o in metadata["outputs"]] == ["label", "scores"]
    for binary in (True, False):
        tensor = http.InferInput("input", list(X.shape), "FP32")
        tensor.set_data_from_numpy(X, binary_data=binary)
        for asked in (True, False):
            outputs = [
                http.InferRequestedOutput(name, binary_data=asked) for name in ("label", "scores")
            ]
            answer = client.infer("numbers", [tensor], outputs=outputs, request_id="7")
            assert answer.get_response()["id"] == "7"
            labels = answer.as_numpy("label")
            if labels.dtype == object:
                labels = np.array([x.decode() if isinstance(x, bytes) else x for x in labels])
            assert np.array_equal(labels, classifier.predict(X))
            scores = answer.as_numpy("scores")[:, 0]
            assert np.array_equal(scores, classifier.decision_function(X.astype(np.float64)))
    with pytest.raises(http.InferenceServerException, match="expected \\[rows, 3\\]"):
        tensor = http.InferInput("input", [1, 2], "FP32")
        tensor.set_data_from_numpy(X[:1, :2].copy())
        client.infer("numbers", [tensor])
    bad = X[:1].copy()
    bad[0, 1] = np.nan
    tensor = http.InferInput("input", [1, 3], "FP32")
    tensor.set_data_from_numpy(bad)
    with pytest.raises(http.InferenceServerException, match="NaN"):
        client.infer("numbers", [tensor])
    client.close()


def test_columns_as_tensors(serve, penguins):
    import tritonclient.http as http

    client = http.InferenceServerClient(serve(penguins).removeprefix("http://"))
    inputs = client.get_model_metadata("penguins")["inputs"]
    assert [i["datatype"] for i in inputs].count("BYTES") == 2
    values = {"island": "Biscoe", "sex": "male", "year": 2008, "bill_length_mm": 50}
    values |= {"bill_depth_mm": 15, "flipper_length_mm": 225, "body_mass_g": 5500}
    tensors = []
    for column in inputs:
        text = column["datatype"] == "BYTES"
        data = np.array([[values[column["name"]]]], dtype=object if text else np.float32)
        tensor = http.InferInput(column["name"], [1, 1], column["datatype"])
        tensor.set_data_from_numpy(data)
        tensors.append(tensor)
    assert client.infer("penguins", tensors).as_numpy("label").tolist() == [b"Gentoo"]
    client.close()


def test_prometheus_reads_the_metrics(serve, penguins, tmp_path):
    from prometheus_client.openmetrics import parser as open_metrics
    from prometheus_client.parser import text_string_to_metric_families

    url = serve(penguins, "--learn", "--log", tmp_path)
    client = Client(url)
    rows = first_rows(5)
    client.predict(rows)
    client.learn(rows)
    with urllib.request.urlopen(url + "/metrics") as answer:
        kind, text = answer.headers["Content-Type"], answer.read().decode()
    assert kind.startswith("application/openmetrics-text")
    for families in (text_string_to_metric_families(text), open_metrics.text_string_to_metric_families(text)):
        samples = {s.name: s.value for f in families for s in f.samples if s.labels.get("model")}
        assert samples["rosenblatt_learned_examples_total"] == 5
        assert samples["rosenblatt_predicted_rows_total"] == 5
        assert 0 <= samples["rosenblatt_window_error"] <= 1
        assert samples["rosenblatt_log_sync_seconds_count"] >= 1
        assert samples["rosenblatt_log_bytes"] > 100


def plain(cell):
    """A cell of the table as JSON has it."""
    if cell in ("", "NA"):
        return None
    try:
        return float(cell)
    except ValueError:
        return cell


def first_rows(n):
    with PENGUINS.open() as file:
        rows = [row for _, row in zip(range(n), csv.DictReader(file))]
    return [{name: plain(cell) for name, cell in row.items()} for row in rows]


def test_schemathesis_finds_nothing(serve, penguins, tmp_path):
    program = shutil.which("schemathesis", path=os.path.dirname(sys.executable))
    assert program, "pip install schemathesis"
    url = serve(penguins, "--learn", "--log", tmp_path)
    found = subprocess.run(
        [
            program, "run", f"{url}/openapi.json", "--url", url, "--seed", "1",
            "--max-examples", "5", "--checks", "all", "--phases", "coverage,fuzzing",
            "--workers", "1", "--suppress-health-check", "all",
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout[-6000:] + found.stderr[-2000:]


def test_our_client(serve, penguins, tmp_path):
    pandas = pytest.importorskip("pandas")
    url = serve(penguins, "--learn", "--log", tmp_path / "log")
    frame = pandas.read_csv(PENGUINS)
    X, y = frame.drop(columns="species"), frame["species"]
    model = files.load(penguins)
    client = Client(url)
    assert client.model == "penguins"
    assert client.classes_.tolist() == model.classes_.tolist()
    expected = subprocess.run(
        [PROGRAM, "predict", penguins, PENGUINS], capture_output=True, text=True, check=True
    ).stdout.split()
    assert client.predict(X).tolist() == expected
    assert client.score(X, y) == np.mean(np.array(expected) == y)
    assert client.decision_function(X).shape == (len(X), 3)
    answer = client.learn(X, y, key="all")
    assert (answer["learned"], answer["durable"]) == (len(X), True)
    assert answer["mistakes"] == sum(np.array(answer["predicted"]) != y)
    assert client.learn(X, y, key="all")["repeated"]
    client.predict(X.iloc[:1], id="one")
    assert client.label("one", y[0])["sequence"] == len(X) + 1
    for _ in range(3):
        client.partial_fit(X, y)
    assert client.score(X, y) > 0.95
    saved = tmp_path / "log" / "penguins" / client.snapshot()["file"]
    again = subprocess.run(
        [PROGRAM, "predict", saved, PENGUINS], capture_output=True, text=True, check=True
    ).stdout.split()
    assert client.predict(X).tolist() == again
    with pytest.raises(ServerError, match="none of the model's classes") as refused:
        client.learn(X.iloc[:1], ["Emperor"])
    assert (refused.value.status, refused.value.problem["row"]) == (422, 1)
    with pytest.raises(ServerError, match="not calibrated|probabilities"):
        client.predict_proba(X)


def test_arrays_learn_and_the_connection_may_break(serve, numbers, tmp_path):
    model, X, classifier = numbers
    log = tmp_path / "log"
    url = serve(model, "--learn", "--log", log)
    client = Client(url)
    y = classifier.predict(X)
    assert np.array_equal(client.predict(X), y)
    assert np.array_equal(client.decision_function(X), classifier.decision_function(X.astype(float)))
    assert client.learn(X, y)["learned"] == len(X)
    serve.process.kill()
    serve.process.wait()
    address = url.removeprefix("http://")
    again = subprocess.Popen(
        [PROGRAM, "serve", "--quiet", "--listen", address, model, "--learn", "--log", log],
        stdout=subprocess.DEVNULL,
    )
    try:
        # Sent again until the server is back.
        assert client.learn(X[:2], y[:2])["sequence"] == len(X) + 2
    finally:
        again.kill()
        again.wait()


def test_tls_and_token(serve, numbers, tmp_path):
    import ssl

    openssl = shutil.which("openssl")
    if openssl is None:
        assert not os.environ.get("CI"), "openssl is missing"
        pytest.skip("openssl makes the certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [
            openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            "-keyout", key, "-out", certificate, "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    token = tmp_path / "token"
    token.write_text("a-token-of-some-length\n")
    model, X, classifier = numbers
    url = serve(model, "--tls-certificate", certificate, "--tls-key", key, "--token-file", token)
    assert url.startswith("https://")
    context = ssl.create_default_context(cafile=certificate)
    request = urllib.request.Request(
        f"{url}/v2", headers={"Authorization": "Bearer a-token-of-some-length"}
    )
    with urllib.request.urlopen(request, context=context) as answer:
        assert b"numbers" in answer.read()
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{url}/v2", context=context)


def test_systemd_hands_over_a_socket_and_is_told(numbers, tmp_path):
    model, X, classifier = numbers
    with socket.socket() as listening, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        told.bind(str(tmp_path / "notify"))
        told.settimeout(20)
        process = subprocess.Popen(
            # systemd knows the number of the process before it begins; a shell's stays its own.
            ["sh", "-c", 'LISTEN_PID=$$ exec "$0" "$@"', PROGRAM, "serve", "--quiet", model],
            env=os.environ | {"LISTEN_FDS": "1", "NOTIFY_SOCKET": str(tmp_path / "notify")},
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=[3],
            preexec_fn=lambda: os.dup2(listening.fileno(), 3),
        )
        try:
            assert told.recv(100) == b"READY=1"
            url = process.stdout.readline().strip()
            assert url.endswith(f":{listening.getsockname()[1]}")
            assert np.array_equal(Client(url).predict(X), classifier.predict(X))
            process.send_signal(signal.SIGHUP)
            assert [told.recv(100), told.recv(100)] == [b"RELOADING=1", b"READY=1"]
            process.terminate()
            assert told.recv(100) == b"STOPPING=1"
            assert process.wait(20) == 0
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
