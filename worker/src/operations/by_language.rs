//! Splits a batch that holds several languages into one model run for each language.

use akhar_requests::Language;

/// Groups the inputs of `batch` by language, calls `run` once for each language present, and returns the
/// outputs in the order of `batch`. `run` must return one output for each of its inputs, in order.
///
/// # Errors
///
/// The first error of `run`, or a text that says so if `run` returned too few outputs.
pub(crate) fn by_language<I, O>(
    batch: &[I],
    language: impl Fn(&I) -> Language,
    mut run: impl FnMut(Language, &[&I]) -> Result<Vec<O>, String>,
) -> Result<Vec<O>, String> {
    let mut answers: Vec<Option<O>> = batch.iter().map(|_| None).collect();
    for wanted in Language::ALL {
        let (indices, inputs): (Vec<usize>, Vec<&I>) =
            batch.iter().enumerate().filter(|(_, input)| language(input) == wanted).unzip();
        if inputs.is_empty() {
            continue;
        }
        for (index, answer) in indices.into_iter().zip(run(wanted, &inputs)?) {
            answers[index] = Some(answer);
        }
    }
    let missing = || "the output of at least one input of the batch is missing".to_owned();
    answers.into_iter().collect::<Option<_>>().ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_keep_the_order_of_the_batch() {
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
