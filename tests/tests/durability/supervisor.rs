//! What a process tells systemd.

use akhar_tests::{Cluster, Process, stack::base_environment};
use rustix::process::Signal;
use tokio::{net::UnixDatagram, time::timeout};

#[tokio::test(flavor = "multi_thread")]
async fn systemd_is_told_that_a_process_is_ready_alive_and_stopping() {
    let cluster = Cluster::shared();
    for name in ["api", "worker"] {
        let address = cluster.folder().join(format!("systemd-{name}"));
        let systemd = UnixDatagram::bind(&address).expect("a socket");
        let told = async |expected: &str| {
            let mut state = [0; 64];
            while let Ok(n) = systemd.recv(&mut state).await {
                if state[..n].trim_ascii() == expected.as_bytes() {
                    break;
                }
            }
        };
        let mut environment = base_environment(&cluster.database().await);
        environment.push(("NOTIFY_SOCKET".to_owned(), address.display().to_string()));
        environment.push(("WATCHDOG_USEC".to_owned(), "200000".to_owned()));
        let mut process = Process::start(name, &environment);
        for state in ["READY=1", "WATCHDOG=1", "WATCHDOG=1"] {
            timeout(akhar_tests::TIMEOUT, told(state)).await.unwrap_or_else(|_| panic!("{name}: no {state}"));
        }
        process.signal(Signal::TERM);
        timeout(akhar_tests::TIMEOUT, told("STOPPING=1")).await.expect("it says that it stops");
        assert!(process.ended().await.success());
    }
}
