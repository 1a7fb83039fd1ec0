//! Callers that ask for large answers and do not read them.

use akhar_tests::{Form, Stack, http::send, results::long_result};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};
use uuid::Uuid;

use crate::digit;

/// The length of an answer.
const N_CHARS: usize = 950_000;

/// A connection that asks for a result and reads its status only.
async fn unread(stack: &Stack, key: &str, job: Uuid) -> (TcpStream, u16) {
    let address = stack.base.trim_start_matches("http://").parse().expect("an address");
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a small buffer");
    let mut caller = socket.connect(address).await.expect("a connection");
    let head =
        format!("GET /v1/jobs/{job}/result HTTP/1.1\r\nhost: akhar\r\nauthorization: Bearer {key}\r\n\r\n");
    caller.write_all(head.as_bytes()).await.expect("a write");
    let mut status = [0; 12];
    caller.read_exact(&mut status).await.expect("a status");
    let status = String::from_utf8_lossy(&status[9..]).parse().expect("a number");
    (caller, status)
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_nobody_reads_take_a_part_of_the_memory_and_refuse_only_their_own_account() {
    const N: usize = 330;
    let stack = Stack::start().await;
    let other = stack.keys(&["create", "--name", "other"]).await;
    let key = stack.key.clone();
    let job = long_result(&stack, &key, N_CHARS).await;
    let of_other = long_result(&stack, &other, N_CHARS).await;
    let mut callers = Vec::new();
    for _ in 0..N {
        callers.push(unread(&stack, &key, job).await);
    }
    let n_answered = callers.iter().filter(|(_, status)| *status == 200).count();
    assert!((10..N / 2).contains(&n_answered), "{n_answered} answers are kept");
    let is_refused = |(_, status): &&(TcpStream, u16)| *status == 429;
    assert_eq!(callers.iter().filter(is_refused).count(), N - n_answered);

    let result = stack.anonymous("GET", &format!("/v1/jobs/{of_other}/result")).bearer_auth(&other);
    let result = send(result).await;
    assert_eq!((result.status, result.body.len() > N_CHARS), (200, true));
    for key in [&other, &key] {
        let answer = send(stack.post_as(key, "digit-recognition", &Form::upload(&digit().bytes))).await;
        assert_eq!(answer.status, 200, "a small answer needs no memory of the large ones");
    }
    drop(callers);
    akhar_tests::until("the account can read its result again", async || {
        (stack.get(&format!("/v1/jobs/{job}/result")).await.status == 200).then_some(())
    })
    .await;
}
