//! Sends one request over and over on several connections, and prints how long the answers took and
//! what they cost the server: `load ADDRESS PATH CONTENT-TYPE BODY-FILE CONNECTIONS SECONDS PID
//! [PER-SECOND]`, at most so many requests a second in all.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Fallible<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [
        address,
        path,
        kind,
        body,
        connections,
        seconds,
        pid,
        rest @ ..,
    ] = &args[..]
    else {
        return Err("expected ADDRESS PATH CONTENT-TYPE BODY-FILE CONNECTIONS SECONDS PID".into());
    };
    let body = std::fs::read(body)?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let request = [head.as_bytes(), &body].concat();
    let (connections, seconds): (usize, f64) = (connections.parse()?, seconds.parse()?);
    let pause = match rest.first() {
        Some(rate) => Duration::from_secs_f64(connections as f64 / rate.parse::<f64>()?),
        None => Duration::ZERO,
    };
    // Once, so that what is done at first is done.
    send(address, &request, Duration::from_millis(200), pause)?;
    let before = processor_time(pid)?;
    let started = Instant::now();
    let mut times = Vec::new();
    let (time, request) = (Duration::from_secs_f64(seconds), &request[..]);
    std::thread::scope(|scope| {
        let senders: Vec<_> = (0..connections)
            .map(|_| scope.spawn(move || send(address, request, time, pause)))
            .collect();
        for sender in senders {
            let found = sender.join().map_err(|_| "a connection failed")??;
            times.extend(found);
        }
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
    })?;
    let took = started.elapsed().as_secs_f64();
    let spent = processor_time(pid)? - before;
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    let line = format!(
        "{{\"requests\":{},\"per_second\":{:.0},\"processor_us\":{:.2},\"p50_us\":{:.0},\"p99_us\":{:.0}}}\n",
        times.len(),
        times.len() as f64 / took,
        spent * 1e6 / times.len() as f64,
        at(0.5),
        at(0.99)
    );
    std::io::stdout().write_all(line.as_bytes())?;
    Ok(())
}

/// Sends a request until the time is over, at most one in each pause; gives how long each answer took.
fn send(address: &str, request: &[u8], time: Duration, pause: Duration) -> Fallible<Vec<Duration>> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut stream, mut line, mut body) = (stream, String::new(), Vec::new());
    let (started, mut times) = (Instant::now(), Vec::new());
    while started.elapsed() < time {
        let sent = Instant::now();
        stream.write_all(request)?;
        let mut length = 0;
        line.clear();
        reader.read_line(&mut line)?;
        let good = line.contains(" 200 ");
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line)?;
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse()?;
            }
        }
        body.resize(length, 0);
        reader.read_exact(&mut body)?;
        if !good {
            return Err(String::from_utf8_lossy(&body).into_owned().into());
        }
        times.push(sent.elapsed());
        std::thread::sleep(pause.saturating_sub(sent.elapsed()));
    }
    Ok(times)
}

/// The processor time that a process has used, in seconds.
fn processor_time(pid: &str) -> Fallible<f64> {
    const TICKS: f64 = 100.0;
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields: Vec<&str> = text
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks: f64 = fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
    Ok(ticks / TICKS)
}
