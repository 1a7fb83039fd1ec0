//! Every command of the pages for users is run against one `akhar serve`, and prints what its page says.

use std::{
    fs,
    path::{Path, PathBuf},
};

use akhar_tests::{Cluster, Service, root, serve::environment, uploads::S3Server};
use futures::future::join_all;

use crate::{
    answer::Comparison,
    page::{Step, steps},
    shell::{Shell, copy_models},
};

/// The pages whose commands are run, from the repository's root.
fn pages() -> Vec<PathBuf> {
    let used =
        fs::read_dir(root().join("docs/src/use")).expect("pages").map(|page| page.expect("a page").path());
    let mut pages: Vec<PathBuf> = used.collect();
    pages.extend(
        ["README.md", "docs/src/quickstart.md", "client/python/README.md", "examples/README.md"]
            .map(|page| root().join(page)),
    );
    pages.sort();
    pages
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_in_pages_print_what_the_page_says() {
    let folder = Cluster::shared().folder().join("documents");
    copy_models(&folder.join("models"));
    let mut environment = environment(&folder.join("data")).await;
    environment.retain(|(name, _)| name != "AKHAR_MODELS_DIR");
    environment.push(("AKHAR_MODELS_DIR".to_owned(), folder.join("models").to_string_lossy().into_owned()));
    environment.push(("AKHAR_CORS_ORIGINS".to_owned(), "https://app.example".to_owned()));
    let bucket = S3Server::start().await;
    environment.extend(S3Server::settings(&bucket.address));
    let service = Service::start_with(&environment).await;
    let ran = pages().into_iter().enumerate().map(|(i, page)| {
        let shell = Shell::new(&service.base, &service.key, &environment, folder.join(format!("page-{i}")));
        async move { run(&page, &shell).await }
    });
    let wrong: Vec<String> = join_all(ran).await.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Runs a page; everything that is wrong, and where.
async fn run(page: &Path, shell: &Shell<'_>) -> Result<(), String> {
    let name = page.strip_prefix(root()).unwrap_or(page).display();
    let text = fs::read_to_string(page).expect("a page");
    let steps = steps(&text).map_err(|error| format!("{name}: {error}"))?;
    if steps.is_empty() {
        return Err(format!("{name}: it has no command that is run"));
    }
    run_steps(&name.to_string(), steps, shell).await
}

/// Runs commands of a page; everything that is wrong, and where.
pub(crate) async fn run_steps(name: &str, steps: Vec<Step>, shell: &Shell<'_>) -> Result<(), String> {
    let (mut comparison, mut wrong) = (Comparison::default(), Vec::new());
    for step in steps {
        let ran = shell.run(&shell.filled_in(&comparison.with_ids(&step.command))).await;
        let agreed = ran.and_then(|printed| match &step.answer {
            Some(answer) => comparison.compare(&shell.filled_in(answer), &printed, step.has_any_numbers),
            None => Ok(()),
        });
        if let Err(error) = agreed {
            wrong.push(format!("{name}:{}: {}\n{error}", step.line, step.command));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n\n")) }
}
