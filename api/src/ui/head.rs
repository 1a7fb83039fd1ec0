//! What the `<head>` of every page holds.

use maud::{Markup, html};

use super::assets;

/// The encoding, the size on phones, the icon and the style that all pages share. A page adds its title and its own files.
///
/// A page without an icon makes the browser ask for `/favicon.ico`, and log that there is none.
pub(super) fn shared() -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover";
        meta name="color-scheme" content="light dark";
        link rel="icon" href=(assets::path("icon.svg")) type="image/svg+xml";
        link rel="stylesheet" href=(assets::path("base.css"));
    }
}
