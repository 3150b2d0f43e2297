//! What was acknowledged is never lost, and never learned twice: on a disk in memory that loses
//! power, fails and is damaged.

mod disk;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use disk::Disk;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rosenblatt::data::{Classes, Dataset, Matrix, Precision};
use rosenblatt::model::Model;
use rosenblatt::read::LabelFound;
use rosenblatt::training::Callback;
use rosenblatt::{OnlineLearner, Options, Session};
use rosenblatt_serve::learn::journal::{Journal, Recovery};
use rosenblatt_serve::learn::state::State;
use rosenblatt_serve::learn::writer::{Listener, Writer};
use rosenblatt_serve::learn::{Job, Learned, NewClasses, Sync, Task};
use rosenblatt_serve::{Answer, Problem};
use tokio::sync::oneshot;

const FEATURES: usize = 3;
const BASE: [u8; 32] = [7; 32];

struct Quiet;

impl Callback for Quiet {}

/// An example that its number makes.
fn example(number: u64) -> (Vec<f64>, u32) {
    let mut x = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        x ^= x >> 29;
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((x >> 40) as f64 / (1 << 24) as f64) * 4.0 - 2.0
    };
    let row: Vec<f64> = (0..FEATURES).map(|_| next()).collect();
    let label = u32::from(row[0] + 0.5 * row[1] + 0.7 * next() > 0.0);
    (row, label)
}

fn matrix(numbers: &[u64]) -> Matrix {
    let rows: Vec<Vec<f64>> = numbers.iter().map(|&n| example(n).0).collect();
    Matrix::dense_from_rows(FEATURES, &rows, Precision::F32)
}

/// What the log begins with.
fn first_model() -> Model {
    let numbers: Vec<u64> = (1_000_000..1_000_020).collect();
    let labels = numbers.iter().map(|&n| example(n).1).collect();
    let classes = Classes::from_labels(["no", "yes"]);
    let data = Dataset::new(matrix(&numbers), labels, classes, None).unwrap();
    let options = Options {
        epochs: Some(1),
        ..Options::default()
    };
    Session::new(&options).train(&data).unwrap().model
}

/// The bytes of the model that has learned these examples in order.
fn unbroken(numbers: &[u64]) -> Vec<u8> {
    let mut learner = OnlineLearner::new(first_model()).unwrap();
    for &number in numbers {
        let label = example(number).1;
        learner
            .learn(matrix(&[number]), vec![label], &mut Quiet)
            .unwrap();
    }
    learner.model().to_bytes().unwrap()
}

/// Hears what is published, and why learning stopped.
#[derive(Clone, Default)]
struct Heard(
    Arc<std::sync::Mutex<(u64, Option<String>)>>,
    Arc<AtomicUsize>,
);

impl Listener for Heard {
    fn publish(&self, _: Model, sequence: u64) {
        self.0.lock().unwrap().0 = sequence;
    }

    fn learned(&self, rows: &[(u32, u32)], _: &Classes) {
        self.1.fetch_add(rows.len(), Ordering::Relaxed);
    }

    fn synced(&self, _: Duration) {}

    fn grown(&self, _: u64) {}

    fn saved(&self, _: Result<&str, &str>) {}

    fn failed(&self, why: &str) {
        self.0.lock().unwrap().1 = Some(why.to_owned());
    }
}

/// A learner on a disk.
struct Running {
    writer: Writer<Heard>,
    heard: Heard,
}

fn open(disk: &Disk) -> rosenblatt::Result<(Journal, State, Recovery)> {
    Journal::open(Arc::new(disk.clone()), BASE, || Ok(first_model()))
}

fn start(disk: &Disk, sync: Sync) -> rosenblatt::Result<Running> {
    let (journal, state, _) = open(disk)?;
    let heard = Heard::default();
    let writer = Writer {
        journal,
        state,
        sync,
        new_classes: NewClasses::Add,
        snapshot_bytes: 3000,
        listener: heard.clone(),
        failed: None,
        saving: None,
        synced: Instant::now(),
    };
    Ok(Running { writer, heard })
}

impl Running {
    /// Has some things done together; the answers are in order.
    fn ask(&mut self, tasks: Vec<(Task, Option<String>)>) -> Vec<Answer<Learned>> {
        let (mut jobs, mut answers) = (Vec::new(), Vec::new());
        for (task, key) in tasks {
            let (answer, answered) = oneshot::channel();
            jobs.push(Job { task, key, answer });
            answers.push(answered);
        }
        self.writer.work(jobs);
        let answers = answers.into_iter();
        answers.map(|mut a| a.try_recv().unwrap()).collect()
    }

    fn one(&mut self, task: Task, key: Option<&str>) -> Answer<Learned> {
        self.ask(vec![(task, key.map(str::to_owned))]).remove(0)
    }

    fn learn(&mut self, number: u64) -> Answer<Learned> {
        self.one(task(&[number]), Some(&format!("k{number}")))
    }

    fn bytes(&self) -> Vec<u8> {
        self.writer.state.learner.model().to_bytes().unwrap()
    }
}

fn task(numbers: &[u64]) -> Task {
    let labels = numbers.iter().map(|&n| LabelFound::Class(example(n).1));
    Task::Learn(matrix(numbers), labels.collect())
}

/// What happens to a server.
#[derive(Debug, Clone)]
enum Event {
    /// So many requests at once, of so many rows each.
    Learn(Vec<usize>),
    /// The last request again.
    Again,
    /// A row is predicted, and its label comes soon.
    Predict,
    Label,
    Snapshot,
    Kill,
    /// Power goes after so many calls of the file layer.
    PowerCut(u64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        5 => proptest::collection::vec(1usize..5, 1..5).prop_map(Event::Learn),
        1 => Just(Event::Again),
        1 => Just(Event::Predict),
        1 => Just(Event::Label),
        1 => Just(Event::Snapshot),
        1 => Just(Event::Kill),
        2 => (0u64..12).prop_map(Event::PowerCut),
    ]
}

/// Requests that were sent: their rows, and whether they were acknowledged.
struct Client {
    next: u64,
    /// Rows that must have been learned, in order.
    acknowledged: Vec<u64>,
    /// Requests sent last and not answered, which may have been learned or not.
    open: Vec<Vec<u64>>,
    waiting: Option<u64>,
}

impl Client {
    /// After a crash: which of the open requests were learned is told by sending them again.
    fn recover(&mut self, running: &mut Running) {
        for numbers in std::mem::take(&mut self.open) {
            let key = format!("k{}", numbers[0]);
            let before = running.writer.state.sequence;
            let learned = running.one(task(&numbers), Some(&key)).unwrap();
            assert_eq!(learned.rows.len(), numbers.len());
            if learned.repeated {
                assert_eq!(running.writer.state.sequence, before);
            }
            self.acknowledged.extend(numbers);
        }
    }
}

/// The label of an example, and the id that its prediction had.
fn late(number: u64) -> Task {
    let label = ["no", "yes"][example(number).1 as usize].to_owned();
    Task::Label(format!("p{number}"), vec![label])
}

impl Client {
    /// Does what an event asks for; says whether the server has crashed.
    fn act(&mut self, event: &Event, disk: &mut Disk, running: &mut Running) -> bool {
        match event {
            Event::PowerCut(calls) => disk.lose_power_at(*calls),
            Event::Kill => {
                *disk = disk.after_kill();
                return true;
            }
            Event::Snapshot => return running.one(Task::Snapshot, None).is_err(),
            Event::Again => {
                if let [only] = self.acknowledged[..] {
                    let again = running.learn(only);
                    assert!(again.is_err() || again.unwrap().repeated);
                }
            }
            Event::Predict => {
                let number = self.next;
                self.next += 1;
                let keep = Task::Keep(format!("p{number}"), matrix(&[number]));
                match running.one(keep, None) {
                    Ok(_) => self.waiting = Some(number),
                    Err(_) => return true,
                }
            }
            Event::Label => {
                if let Some(number) = self.waiting {
                    if running.one(late(number), None).is_err() {
                        return true;
                    }
                    self.acknowledged.push(number);
                    self.waiting = None;
                    // A second time it is learned no more.
                    let again = running.one(late(number), None);
                    assert!(again.is_err() || again.unwrap().repeated);
                }
            }
            Event::Learn(sizes) => return self.learn(sizes, running),
        }
        false
    }

    fn learn(&mut self, sizes: &[usize], running: &mut Running) -> bool {
        let mut requests: Vec<Vec<u64>> = Vec::new();
        for &n in sizes {
            requests.push((self.next..self.next + n as u64).collect());
            self.next += n as u64;
        }
        let tasks = requests.iter();
        let tasks = tasks.map(|r| (task(r), Some(format!("k{}", r[0]))));
        let answers = running.ask(tasks.collect());
        for (answer, numbers) in answers.into_iter().zip(requests) {
            match answer {
                Ok(_) => self.acknowledged.extend(numbers),
                Err(_) => self.open.push(numbers),
            }
        }
        !self.open.is_empty()
    }
}

fn check(events: &[Event], mut bits: u64) {
    let mut random = move || {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        bits as u8
    };
    let mut disk = Disk::default();
    let mut running = start(&disk, Sync::Always).unwrap();
    let mut client = Client {
        next: 0,
        acknowledged: Vec::new(),
        open: Vec::new(),
        waiting: None,
    };
    for event in events {
        if client.act(event, &mut disk, &mut running) {
            if !matches!(event, Event::Kill) {
                disk = disk.after_power_cut(&mut random);
            }
            running = start(&disk, Sync::Always).unwrap();
            if matches!(event, Event::Label)
                && let Some(number) = client.waiting.take()
            {
                // The answer to a label was lost, so it is sent again.
                running.one(late(number), None).unwrap();
                client.acknowledged.push(number);
            }
            client.recover(&mut running);
        }
        if running.writer.failed.is_none() {
            let learned = running.writer.state.sequence;
            assert_eq!(learned, client.acknowledged.len() as u64);
        }
    }
    if running.writer.failed.is_none() {
        assert!(
            running.bytes() == unbroken(&client.acknowledged),
            "{events:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_interleaving_gives_the_model_of_what_was_acknowledged(
        events in proptest::collection::vec(event(), 1..40),
        bits in 1u64..u64::MAX,
    ) {
        check(&events, bits);
    }
}

#[test]
fn a_power_cut_at_every_call_loses_nothing() {
    let run = |disk: &Disk| {
        let mut running = start(disk, Sync::Always).ok()?;
        let mut learned = Vec::new();
        for number in 0..30 {
            if running.learn(number).is_ok() {
                learned.push(number);
            }
            if number % 9 == 8 {
                // A snapshot that cannot be saved loses nothing.
                let _ = running.one(Task::Snapshot, None);
            }
        }
        Some(learned)
    };
    let whole = Disk::default();
    assert_eq!(run(&whole).unwrap().len(), 30);
    for call in 0..whole.calls() {
        for seed in 0..3u8 {
            let disk = Disk::default();
            disk.lose_power_at(call);
            let acknowledged = run(&disk).unwrap_or_default();
            let mut state = seed;
            let after = disk.after_power_cut(|| {
                state = state.wrapping_mul(37).wrapping_add(11);
                state >> 3
            });
            let running = start(&after, Sync::Always).unwrap();
            let learned = running.writer.state.sequence;
            assert!(learned >= acknowledged.len() as u64, "call {call}");
            // What was not acknowledged may have been learned too: one request at most.
            assert!(learned <= acknowledged.len() as u64 + 1, "call {call}");
            let numbers: Vec<u64> = (0..learned).collect();
            assert!(running.bytes() == unbroken(&numbers), "call {call}");
        }
    }
}

/// A log of some examples, and the name of its last segment.
fn small_log() -> (Disk, String) {
    let disk = Disk::default();
    let mut running = start(&disk, Sync::Always).unwrap();
    for number in 0..3 {
        running.learn(number).unwrap();
    }
    running.one(Task::Snapshot, None).unwrap();
    for number in 3..6 {
        running.learn(number).unwrap();
    }
    (disk, "00000002.log".into())
}

#[test]
fn every_truncation_gives_a_prefix_or_is_refused() {
    let (disk, name) = small_log();
    let bytes = disk.bytes(&name);
    let mut lengths = [0; 7];
    for length in 0..bytes.len() {
        match open(&disk.with(&name, &bytes[..length])) {
            Ok((_, state, _)) => {
                lengths[state.sequence as usize] += 1;
                let numbers: Vec<u64> = (0..state.sequence).collect();
                assert!(state.learner.model().to_bytes().unwrap() == unbroken(&numbers));
            }
            Err(error) => assert!(error.to_string().contains(&name), "{error}"),
        }
    }
    assert!(
        lengths[3] > 50 && lengths[4] > 50 && lengths[5] > 50,
        "{lengths:?}"
    );
    assert_eq!(lengths[..3], [0; 3]);
}

#[test]
fn every_flipped_byte_gives_a_prefix_or_is_refused() {
    let (disk, name) = small_log();
    let bytes = disk.bytes(&name);
    let (mut prefixes, mut refused) = (0, 0);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        match open(&disk.with(&name, &damaged)) {
            Ok((_, state, recovery)) => {
                // Only the last record could be a torn tail.
                assert_eq!(state.sequence, 5, "byte {at}");
                assert!(recovery.cut > 0);
                assert!(state.learner.model().to_bytes().unwrap() == unbroken(&[0, 1, 2, 3, 4]));
                prefixes += 1;
            }
            Err(error) => {
                assert!(error.to_string().contains("byte "), "{error}");
                refused += 1;
            }
        }
    }
    assert!(
        prefixes > 50 && refused > 4 * prefixes,
        "{prefixes} {refused}"
    );
    // The snapshot is checked as a whole.
    let snapshot = "00000002-3.rbm";
    let bytes = disk.bytes(snapshot);
    for at in (0..bytes.len()).step_by(97) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        let error = open(&disk.with(snapshot, &damaged)).err().unwrap();
        assert!(error.to_string().contains(snapshot), "{error}");
    }
}

#[test]
fn another_models_log_is_refused() {
    let (disk, _) = small_log();
    let other = Journal::open(Arc::new(disk), [8; 32], || Ok(first_model()));
    let error = other.err().unwrap().to_string();
    assert!(error.contains("begun with another model"), "{error}");
}

#[test]
fn after_a_failed_sync_nothing_more_is_learned() {
    for full in [false, true] {
        let disk = Disk::default();
        let mut running = start(&disk, Sync::Always).unwrap();
        running.learn(0).unwrap();
        match full {
            true => disk.fill(),
            false => disk.fail_sync_after(0),
        }
        let problem = running.learn(1).unwrap_err();
        assert_eq!(problem.status(), 503);
        assert!(problem.detail().contains("idempotency key"), "{problem:?}");
        let heard = running.heard.0.lock().unwrap().clone();
        // What could not be synced was not published.
        assert_eq!(heard.0, 1);
        assert!(heard.1.unwrap().contains("could not be written"));
        assert_eq!(running.learn(2).unwrap_err().status(), 503);
        assert_eq!(running.learn(0).unwrap_err().status(), 503);
        let running = start(&disk.after_kill(), Sync::Always).unwrap();
        let learned = running.writer.state.sequence;
        assert!(learned == 1 || (learned == 2 && !full));
        let numbers: Vec<u64> = (0..learned).collect();
        assert!(running.bytes() == unbroken(&numbers));
    }
}

#[test]
fn a_key_is_good_for_one_request() {
    let disk = Disk::default();
    let mut running = start(&disk, Sync::Always).unwrap();
    let first = running.one(task(&[1, 2]), Some("a")).unwrap();
    assert!(!first.repeated && first.durable);
    let again = running.one(task(&[1, 2]), Some("a")).unwrap();
    assert!(again.repeated);
    assert_eq!((again.sequence, &again.rows), (first.sequence, &first.rows));
    let other: Problem = running.one(task(&[1, 3]), Some("a")).unwrap_err();
    assert_eq!(other.status(), 409);
    // Twice at the same moment.
    let both = vec![
        (task(&[5]), Some("b".into())),
        (task(&[5]), Some("b".into())),
    ];
    let both = running.ask(both);
    assert!(!both[0].as_ref().unwrap().repeated && both[1].as_ref().unwrap().repeated);
    assert_eq!(running.writer.state.sequence, 3);
    // It is known after a restart, and after the log was shortened.
    running.one(Task::Snapshot, None).unwrap();
    for disk in [disk.after_kill(), disk.after_power_cut(|| 2)] {
        let mut running = start(&disk, Sync::Always).unwrap();
        let again = running.one(task(&[1, 2]), Some("a")).unwrap();
        assert!(again.repeated);
        assert_eq!(again.rows, first.rows);
        assert_eq!(running.writer.state.sequence, 3);
    }
}

#[test]
fn new_classes_are_added_in_order_and_survive() {
    let disk = Disk::default();
    let mut running = start(&disk, Sync::Always).unwrap();
    let unknown = |name: &str| {
        let labels = vec![LabelFound::Unknown(name.into()), LabelFound::Class(0)];
        (Task::Learn(matrix(&[1, 2]), labels), None)
    };
    let answers = running.ask(vec![unknown("b"), unknown("a"), unknown("b")]);
    let labels: Vec<u32> = answers
        .iter()
        .map(|a| a.as_ref().unwrap().rows[0].1)
        .collect();
    assert_eq!(labels, [2, 3, 2]);
    let bytes = running.bytes();
    let again = start(&disk.after_power_cut(|| 2), Sync::Always).unwrap();
    assert!(again.bytes() == bytes);
    let classes = &again.writer.state.learner.model().classes;
    assert_eq!(classes.names(), ["no", "yes", "b", "a"]);
    running.writer.new_classes = NewClasses::Refuse;
    let (task, _) = unknown("c");
    let refused = running.one(task, None).unwrap_err();
    assert_eq!(refused.status(), 422);
    assert!(
        refused.detail().contains("none of the model's classes"),
        "{refused:?}"
    );
    assert!(running.bytes() == bytes);
}

#[test]
fn sync_says_what_is_durable() {
    for (sync, durable) in [
        (Sync::Always, true),
        (Sync::Never, false),
        (Sync::Interval(Duration::from_secs(3600)), false),
        (Sync::Interval(Duration::ZERO), true),
    ] {
        let disk = Disk::default();
        let mut running = start(&disk, sync).unwrap();
        for number in 0..3 {
            assert_eq!(running.learn(number).unwrap().durable, durable, "{sync}");
        }
        let killed = start(&disk.after_kill(), sync).unwrap();
        assert_eq!(killed.writer.state.sequence, 3);
        let cut = start(&disk.after_power_cut(|| 2), sync).unwrap();
        assert_eq!(cut.writer.state.sequence, if durable { 3 } else { 0 });
    }
}
