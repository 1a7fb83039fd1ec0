//! Batches of several languages: a batch comes in; its answers, from one run a language, come out in its order.

use akhar_jobs::Language;

/// Runs what a batch has in each language together; `run` answers every input, in order.
pub(crate) fn by_language<I, O>(
    batch: &[I],
    language: impl Fn(&I) -> Language,
    mut run: impl FnMut(Language, &[&I]) -> Result<Vec<O>, String>,
) -> Result<Vec<O>, String> {
    let mut answers: Vec<Option<O>> = batch.iter().map(|_| None).collect();
    for spoken in Language::ALL {
        let (places, inputs): (Vec<usize>, Vec<&I>) =
            batch.iter().enumerate().filter(|(_, input)| language(input) == spoken).unzip();
        if inputs.is_empty() {
            continue;
        }
        for (place, answer) in places.into_iter().zip(run(spoken, &inputs)?) {
            answers[place] = Some(answer);
        }
    }
    answers.into_iter().collect::<Option<_>>().ok_or_else(|| "an answer is missing".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_the_batch_s_order() {
        let (pa, en) = (Language::Panjabi, Language::English);
        let batch = [(en, 1), (pa, 2), (en, 3)];
        let mut runs = Vec::new();
        let answers = by_language(
            &batch,
            |(language, _)| *language,
            |language, inputs| {
                runs.push((language, inputs.len()));
                Ok(inputs.iter().map(|(_, n)| n * 10).collect())
            },
        );
        assert_eq!((answers, runs), (Ok(vec![10, 20, 30]), vec![(pa, 1), (en, 2)]));
        let nothing = by_language(&batch, |(language, _)| *language, |_, _| Ok(Vec::<u8>::new()));
        assert!(nothing.is_err_and(|e| e.contains("missing")));
    }
}
