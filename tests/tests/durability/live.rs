//! A live transcription goes on where a worker or a Postgres that was killed has left it: every word is said once, in order.

use std::collections::BTreeMap;

use akhar_jobs::store;
use akhar_requests::live::{LiveEvent, LiveMark, LiveUtterance};
use akhar_tests::{
    Cluster, Form, Stack,
    http::send,
    live::{PART, Session},
    realtime::{COMPLETED, INTENT, Socket, pcm, texts},
    speech::{RATE, recording, wav},
    until,
};
use rustix::process::Signal;
use serde_json::{Value, json};

async fn say(session: &mut Session, samples: &[i16]) {
    for part in samples.chunks(PART) {
        session.append(part, None).await;
    }
}

/// The mark by which another session is asked for.
fn asks(session: Value) -> LiveMark {
    LiveMark::Session { session: serde_json::from_value(session).expect("a session") }
}

async fn completes(session: &Session, n: usize) {
    let what = format!("{n} utterances are complete");
    until(&what, async || (completed(&session.said().await?).len() >= n).then_some(())).await;
}

/// Ends a session, and returns the texts of its utterances.
async fn end(mut session: Session) -> Vec<String> {
    session.append(&[], Some(LiveMark::End)).await;
    let outcome: (String, i64) = until("the session ends", async || {
        let sql = "select outcome->>'transcription', (select count(*) from stream_inputs where job_id = id)
                   from jobs where id = $1 and state = 'succeeded'";
        sqlx::query_as(sql).bind(session.job).fetch_optional(&session.db).await.ok().flatten()
    })
    .await;
    let said = session.said().await.expect("Postgres is there");
    let texts = completed(&said).into_iter().map(|utterance| utterance.text.clone());
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    assert_eq!(outcome, (texts.join(" "), 0), "the outcome, and no sound is left");
    texts
}

/// The utterances. Checks that they are numbered but for dropped ones, and that each is what was said of it.
fn completed(said: &[LiveEvent]) -> Vec<&LiveUtterance> {
    let mut utterances: Vec<&LiveUtterance> = Vec::new();
    let mut texts = BTreeMap::<u32, String>::new();
    let mut n_cleared = 0;
    for event in said {
        match event {
            LiveEvent::Delta { item, text: further } => texts.entry(*item).or_default().push_str(further),
            LiveEvent::Completed(utterance) => {
                let text = texts.remove(&utterance.item);
                assert_eq!(utterance.text, text.unwrap_or_default(), "{said:?}");
                utterances.push(utterance);
                assert_eq!(usize::try_from(utterance.item).expect("a number"), utterances.len() + n_cleared);
            }
            LiveEvent::Cleared => n_cleared += 1,
            LiveEvent::Failed { .. } => panic!("{event:?}"),
            _ => (),
        }
    }
    utterances
}

/// Four sentences with pauses between them.
fn sentences() -> Vec<Vec<i16>> {
    let pause = vec![0; RATE];
    let names = ["pa-school.wav", "pa-sister.wav", "pa-two-sentences.wav", "pa-school.wav"];
    names.map(|name| [recording(name).samples(), pause.clone()].concat()).into()
}

/// What an undisturbed session says of the sentences.
async fn undisturbed(stack: &Stack) -> Vec<String> {
    let mut session = Session::start(stack, "pa").await;
    for sentence in sentences() {
        say(&mut session, &sentence).await;
    }
    end(session).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_says_what_the_file_of_its_sound_says() {
    let stack = Stack::start().await;
    let samples = sentences().concat();
    let texts = undisturbed(&stack).await;
    assert_eq!(texts.len(), 5, "{texts:?}");
    let file = send(stack.post("speech-recognition", &Form::upload(&wav(&samples)))).await.json();
    assert_eq!(file["transcription"], texts.join(" "));
}

#[tokio::test(flavor = "multi_thread")]
async fn speech_that_does_not_pause_for_long_is_cut_and_no_word_is_lost_or_said_twice() {
    let stack = Stack::start().await;
    let samples: Vec<i16> = sentences().concat().into_iter().cycle().take(45 * RATE).collect();
    let mut session = Session::start_as(&stack, json!({"lang": "pa", "delay_ms": 9000})).await;
    say(&mut session, &samples).await;
    let texts = end(session).await;
    assert!(texts.len() > 1, "{texts:?}");
    let file = send(stack.post("speech-recognition", &Form::upload(&wav(&samples)))).await.json();
    assert_eq!(file["transcription"], texts.join(" "));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_what_comes_at_once_less_than_a_minute_and_few_parts_are_kept() {
    let mut stack = Stack::with().workers(0).start().await;
    let speech: Vec<i16> = recording("pa-school.wav").samples().into_iter().cycle().take(25 * RATE).collect();
    let asked = json!({"lang": "pa", "delay_ms": 9000});
    let mut session = Session::start_as(&stack, asked.clone()).await;
    say(&mut session, &[vec![0; 38 * RATE], speech].concat()).await;
    let stored = store::stored_bytes(&stack.db, &[]).await.expect("an estimate");
    assert!(stored.values().sum::<u64>() > 63 * 32_000, "{stored:?}");
    stack.add_worker().await;
    let is_read = async |session: &Session, n: i64| {
        until("parts are deleted", async || (session.seen(0).await?.n_read >= n).then_some(())).await;
    };
    is_read(&session, 20 * 5).await; // of 63 s, in parts of 0.2 s
    for _ in 0..700 {
        session.append(&[], Some(asks(asked.clone()))).await;
    }
    is_read(&session, 63 * 5).await;
    assert!(end(session).await[0].contains("ਸਕੂਲ"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_killed_in_a_session_loses_no_word_and_repeats_none() {
    let mut stack = Stack::start().await;
    let expected = undisturbed(&stack).await;
    let mut session = Session::start(&stack, "pa").await;
    let sentences = sentences();
    say(&mut session, &sentences[0]).await;
    say(&mut session, &sentences[1][..RATE]).await;
    completes(&session, 1).await;
    stack.add_worker().await;
    stack.workers[0].kill().await;
    say(&mut session, &sentences[1][RATE..]).await;
    say(&mut session, &sentences[2]).await;
    completes(&session, 2).await;
    stack.add_worker().await;
    let stopped = stack.workers[1].restart(Signal::TERM).await;
    assert!(stopped.success(), "{stopped}");
    say(&mut session, &sentences[3]).await;
    assert_eq!(end(session).await, expected);
}

/// Says a sentence, ends the utterance, and lets another session begin with the next one. Returns how many utterances are complete.
async fn say_and_commit(session: &mut Session, nth: usize, sentence: &[i16]) -> usize {
    say(session, sentence).await;
    session.append(&[], Some(LiveMark::Commit)).await;
    let script = if nth.is_multiple_of(2) { "latin" } else { "gurmukhi" };
    session.append(&[], Some(asks(json!({"lang": "pa", "script": script, "delay_ms": 9000})))).await;
    completes(session, nth + 1).await;
    nth + 1
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_caller_ends_is_ended_once_though_its_sound_is_read_again_with_what_follows() {
    let mut stack = Stack::start().await;
    let mut texts = Vec::new();
    for is_disturbed in [false, true] {
        let mut session = Session::start_as(&stack, json!({"lang": "pa", "delay_ms": 9000})).await;
        for (nth, sentence) in sentences().iter().enumerate() {
            let n_complete = say_and_commit(&mut session, nth, sentence).await;
            if is_disturbed {
                stack.add_worker().await;
                stack.workers[nth].kill().await;
            }
            assert_eq!(completed(&session.said().await.expect("Postgres is there")).len(), n_complete);
        }
        texts.push(end(session).await);
    }
    assert_eq!(texts[0], texts[1]);
    assert!(texts[0].len() == 4 && texts[0][1].starts_with('m') && texts[0][2].starts_with('ਅ'), "{texts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_that_is_killed_in_a_session_loses_no_word_and_repeats_none() {
    let cluster = Cluster::own();
    cluster.flush_late().await;
    let stack = Stack::with().on(&cluster).start().await;
    let expected = undisturbed(&stack).await;
    let mut session = Session::start(&stack, "pa").await;
    for (nth, sentence) in sentences().iter().enumerate() {
        say(&mut session, &sentence[..RATE]).await;
        completes(&session, nth).await;
        cluster.kill().await;
        cluster.start_again().await;
        say(&mut session, &sentence[RATE..]).await;
    }
    assert_eq!(end(session).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_over_a_socket_loses_no_word_whichever_part_is_killed() {
    let cluster = Cluster::own();
    cluster.flush_late().await;
    let mut stack = Stack::with().on(&cluster).start().await;
    let expected = undisturbed(&stack).await;
    let sound = pcm(&sentences().concat());
    let ends = sentences().into_iter().scan(0, |end, sentence| {
        *end += 2 * sentence.len();
        Some(*end)
    });
    let ends: Vec<usize> = ends.collect();
    let pcm = json!({"audio": {"input": {"format": {"type": "audio/pcm", "rate": RATE}}}});
    let mut socket = Socket::open(&stack, INTENT).await;
    socket.update(pcm.clone()).await;
    // Each part is killed in the middle of a sentence.
    socket.append(&sound[..ends[0] + 2 * RATE]).await;
    socket.until(COMPLETED).await;
    stack.add_worker().await;
    stack.workers[0].kill().await;
    socket.append(&sound[ends[0] + 2 * RATE..ends[1] + 2 * RATE]).await;
    socket.until(COMPLETED).await;
    cluster.kill().await;
    socket.append(&sound[ends[1] + 2 * RATE..ends[2]]).await;
    cluster.start_again().await;
    socket.append(&sound[ends[2]..ends[2] + 2 * RATE]).await;
    socket.until(COMPLETED).await;
    stack.restart_api().await;
    let mut events = socket.events.clone();
    let mut further = socket.resume(&stack.base, &stack.key).await;
    let n_stored = 32 * further.until("akhar.stored").await["audio_end_ms"].as_u64().expect("milliseconds");
    further.append(&sound[usize::try_from(n_stored).expect("few")..]).await;
    assert_eq!(further.finish().await, 1000);
    events.append(&mut further.events);
    assert_eq!(texts(&events), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_ends_and_drops_utterances_and_changes_the_session() {
    let stack = Stack::start().await;
    let samples = recording("pa-school.wav").samples();
    let file = send(stack.post("speech-recognition", &Form::upload(&wav(&samples)))).await.json();
    let turns = json!({"silence_ms": 9000, "prefix_ms": 300, "threshold": 0.5});
    let asked = json!({"lang": "pa", "turn_detection": turns, "keyterms": ["Qwerty"]});
    let mut session = Session::start_as(&stack, asked.clone()).await;
    say(&mut session, &samples).await;
    for _ in 0..3 {
        session.append(&[], Some(LiveMark::Commit)).await;
    }
    say(&mut session, &samples).await;
    session.append(&[], Some(LiveMark::Clear)).await;
    let translated =
        json!({"lang": "pa", "with-translation": true, "script": "latin", "turn_detection": turns});
    session.append(&[], Some(asks(translated))).await;
    say(&mut session, &samples).await;
    session.append(&[], Some(asks(asked))).await; // for what follows
    completes(&session, 4).await;
    let said = session.said().await.expect("Postgres is there");
    let [first, _, empty, second] = completed(&said)[..] else { panic!("{said:?}") };
    assert_eq!((file["transcription"].as_str(), &first.translation), (Some(&*first.text), &None));
    // Key terms have no effect on an utterance that is not recognised, because it has no sound.
    assert_eq!((first.warnings.len(), empty.warnings.len()), (1, 0), "{said:?}");
    assert!(second.text.contains("sakūl"), "{}", second.text);
    assert!(second.translation.as_ref().is_some_and(|text| text.contains("school")), "{second:?}");
    assert!(said.contains(&LiveEvent::Cleared) && second.start_ms >= 2 * 2500, "{said:?}");
    assert_eq!(end(session).await.len(), 2);
}
