//! Builds the module graph of a crate from its source files, and finds the cycles of its files and folders.
//!
//! There is an edge from a file to each file that defines an item that it names, in a `use` or a path outside
//! of tests, and to each file whose re-export it names on the way to the definition. `mod child;` and `pub use`
//! are not edges, so a module may declare and re-export its children. But an item that a module defines or
//! re-exports and its children use is an edge from the child.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, File, Item, ItemMod, UseTree, Visibility,
    visit::{self, Visit},
};

/// A module's path from the crate's root.
type ModulePath = Vec<String>;

/// The longest chain of re-exports that is followed.
const MAX_HOPS: usize = 16;

/// For each file, the files that it uses, as paths relative to the crate's `src` folder.
pub(crate) type Graph = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// The meaning of a name in a module.
#[derive(Debug, Clone)]
enum Name {
    Item,
    /// An imported or re-exported item, with its path.
    Alias(Vec<String>),
}

#[derive(Debug, Default)]
struct Module {
    file: PathBuf,
    /// The names of its modules. An item may have the same name.
    children: BTreeSet<String>,
    names: BTreeMap<String, Name>,
    /// The modules that are imported with `*`.
    globs: Vec<Vec<String>>,
    /// The paths in the module's code, from the crate's root or from this module.
    used: BTreeSet<Vec<String>>,
}

/// The modules of a crate by their paths.
#[derive(Debug, Default)]
struct Modules(BTreeMap<ModulePath, Module>);

/// The module graph of the crate with this root file, such as `src/lib.rs`.
pub(crate) fn graph(root: &Path) -> Graph {
    let mut modules = Modules::default();
    let folder = root.parent().expect("a file in a folder");
    modules.read(folder, root, folder, Vec::new());
    let mut graph = Graph::new();
    for (path, module) in &modules.0 {
        let uses = graph.entry(module.file.clone()).or_default();
        for used in &module.used {
            let mut files = Vec::new();
            modules.resolve(path, used, MAX_HOPS, &mut files);
            uses.extend(files.into_iter().filter(|file| *file != module.file));
        }
    }
    graph
}

/// The same graph for folders: an edge from a file to another one becomes an edge between two entries, files or
/// folders, of the deepest folder that contains both. Each cycle of files is also a cycle of entries.
pub(crate) fn entries(files: &Graph) -> Graph {
    let mut graph = Graph::new();
    for (file, used) in files {
        for other in used {
            let [from, to] = ends(file, other);
            graph.entry(to.clone()).or_default();
            graph.entry(from).or_default().insert(to);
        }
    }
    graph
}

/// The entries, of the deepest folder that contains both files, that are or contain them.
pub(crate) fn ends(file: &Path, other: &Path) -> [PathBuf; 2] {
    let n_shared = file.iter().zip(other).take_while(|(a, b)| a == b).count();
    [file, other].map(|path| path.iter().take(n_shared + 1).collect())
}

/// The strongly connected components with two or more files: sets in which each file reaches every other one.
pub(crate) fn cycles(graph: &Graph) -> Vec<BTreeSet<PathBuf>> {
    let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        graph.keys().map(|file| (file, reachable(graph, file))).collect();
    let cycle = |file: &PathBuf| -> BTreeSet<PathBuf> {
        let back = |other: &&&PathBuf| reached.get(**other).is_some_and(|from| from.contains(file));
        reached[file].iter().filter(back).map(|other| (*other).clone()).collect()
    };
    let cycles: BTreeSet<BTreeSet<PathBuf>> = graph.keys().map(cycle).filter(|c| c.len() > 1).collect();
    cycles.into_iter().collect()
}

fn reachable<'a>(graph: &'a Graph, from: &PathBuf) -> BTreeSet<&'a PathBuf> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        for next in graph.get(file).into_iter().flatten() {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    reached
}

impl Modules {
    /// Reads a file as the module at `path`, and its child modules, whose files are in the folder `children`.
    fn read(&mut self, source: &Path, file: &Path, children: &Path, path: ModulePath) {
        let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parsed: File = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let name = file.strip_prefix(source).expect("below src").to_owned();
        self.add(source, &name, children, path, &parsed.items);
    }

    fn add(&mut self, source: &Path, file: &Path, children: &Path, path: ModulePath, items: &[Item]) {
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            match item {
                Item::Mod(child) => {
                    module.children.insert(child.ident.to_string());
                    self.add_child(source, file, children, &path, child);
                }
                Item::Use(item) => {
                    let is_private = matches!(item.vis, Visibility::Inherited);
                    let mut from = Vec::new();
                    module.import(&item.tree, &mut from, is_private);
                }
                item => {
                    module.names.extend(name_of(item).map(|name| (name, Name::Item)));
                    let mut paths = Paths::default();
                    paths.visit_item(item);
                    module.used.extend(paths.0);
                }
            }
        }
        self.0.insert(path, module);
    }

    fn add_child(&mut self, source: &Path, file: &Path, children: &Path, path: &ModulePath, child: &ItemMod) {
        let name = child.ident.to_string();
        let below = children.join(&name);
        let path: ModulePath = path.iter().cloned().chain([name.clone()]).collect();
        if let Some((_, items)) = &child.content {
            return self.add(source, file, &below, path, items);
        }
        let own = children.join(format!("{name}.rs"));
        let child = if own.exists() { own } else { below.join("mod.rs") };
        self.read(source, &child, &below, path);
    }

    /// Adds the file that defines the item that `path` names in the module `from`, and the files that re-export it on
    /// the way. Nothing for items of other crates, and for paths that name a module itself: only the items of a module
    /// count. Returns whether the item was found.
    fn resolve(&self, from: &ModulePath, path: &[String], hops: usize, files: &mut Vec<PathBuf>) -> bool {
        let Some(hops) = hops.checked_sub(1) else { return false };
        let mut at = from.clone();
        let mut rest = path;
        if rest.first().is_some_and(|segment| segment == "crate") {
            (at, rest) = (Vec::new(), &rest[1..]);
        }
        while let Some((segment, later)) = rest.split_first() {
            match segment.as_str() {
                "self" => (),
                "super" => drop(at.pop()),
                name => {
                    let Some(module) = self.0.get(&at) else { return false };
                    let is_child = module.children.contains(name);
                    if is_child && !later.is_empty() {
                        at.push(name.to_owned());
                        rest = later;
                        continue;
                    }
                    let targets: Vec<Vec<String>> = match module.names.get(name) {
                        Some(Name::Item) => {
                            files.push(module.file.clone());
                            return true;
                        }
                        Some(Name::Alias(target)) => vec![target.iter().chain(later).cloned().collect()],
                        None if is_child => return false,
                        None => module
                            .globs
                            .iter()
                            .map(|glob| glob.iter().chain(rest).cloned().collect())
                            .collect(),
                    };
                    // A macro defines what a module of this crate has and its text does not name.
                    let found = targets.iter().any(|path| self.resolve(&at, path, hops, files))
                        || (rest.len() < path.len() && !module.names.contains_key(name));
                    if found {
                        files.push(module.file.clone());
                    }
                    return found;
                }
            }
            rest = later;
        }
        false
    }
}

impl Module {
    /// Adds the names of a `use`. A private `use` also counts as a use of its items.
    fn import(&mut self, tree: &UseTree, from: &mut Vec<String>, is_private: bool) {
        match tree {
            UseTree::Path(path) => {
                from.push(path.ident.to_string());
                self.import(&path.tree, from, is_private);
                from.pop();
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.import(tree, from, is_private));
            }
            UseTree::Glob(_) => self.globs.push(from.clone()),
            UseTree::Name(name) => {
                self.alias(name.ident.to_string(), name.ident.to_string(), from, is_private);
            }
            UseTree::Rename(name) => {
                self.alias(name.rename.to_string(), name.ident.to_string(), from, is_private);
            }
        }
    }

    fn alias(&mut self, alias: String, name: String, from: &[String], is_private: bool) {
        let mut path = from.to_vec();
        let alias = if name == "self" { from.last().cloned().unwrap_or(alias) } else { alias };
        if name != "self" {
            path.push(name);
        }
        if is_private {
            self.used.insert(path.clone());
        }
        // `use image;` in a module with `mod image;` names the crate `image`, so the name keeps standing for
        // the module.
        if path.len() > 1 || path.first().is_some_and(|only| *only != alias) {
            self.names.insert(alias, Name::Alias(path));
        }
    }
}

/// Collects the paths in code and in the arguments of macros.
#[derive(Default)]
struct Paths(BTreeSet<Vec<String>>);

impl<'ast> Visit<'ast> for Paths {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut module = Module::default();
        module.import(&item.tree, &mut Vec::new(), true);
        self.0.extend(module.used);
    }

    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }
}

impl Paths {
    /// Collects identifiers that are joined by `::`.
    fn tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut n_colons) = (Vec::<String>::new(), 0);
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if path.is_empty() || n_colons == 2 => {
                    path.push(ident.to_string());
                    n_colons = 0;
                    continue;
                }
                TokenTree::Ident(ident) => {
                    self.0.insert(std::mem::replace(&mut path, vec![ident.to_string()]));
                    n_colons = 0;
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    n_colons += 1;
                    continue;
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => (),
            }
            self.0.insert(std::mem::take(&mut path));
            n_colons = 0;
        }
        self.0.insert(path);
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    let is_cfg_test = |attribute: &Attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    };
    attributes.iter().any(is_cfg_test)
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name_of(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

#[test]
fn cycles_of_files_and_folders_are_found_and_re_exports_hide_none() {
    let folder = std::env::temp_dir().join(format!("akhar-modules-{}", std::process::id()));
    let files = [
        ("lib.rs", "mod a; mod b; mod c; mod e; mod h; pub use a::A; fn run() { c::d::go() }"),
        ("a.rs", "use crate::b::B; pub struct A(B); #[cfg(test)] mod tests { use crate::c::C; }"),
        ("b.rs", "pub struct B; fn f() { println!(\"{}\", crate::A::new()) }"),
        ("c/mod.rs", "pub(crate) mod d; mod g; pub(crate) use d::C; pub(crate) const LIMIT: u8 = 1;"),
        ("c/d.rs", "use super::LIMIT; pub(crate) struct C; pub(crate) fn go() {}"),
        ("c/g.rs", "use crate::e::E;"),
        ("e/mod.rs", "mod f; pub(crate) use f::E; fn h() -> crate::c::C {}"),
        ("e/f.rs", "pub(crate) struct E;"),
        ("h/mod.rs", "mod i; mod j; pub(crate) use i::i;"),
        ("h/i.rs", "use super::j::J; pub(crate) struct I; pub(crate) fn i() {}"),
        ("h/j.rs", "use super::i::I; pub(crate) struct J;"),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    }
    let graph = graph(&folder.join("lib.rs"));
    fs::remove_dir_all(&folder).expect("it can be removed");
    let arrows = |from: &str| -> Vec<String> {
        graph[Path::new(from)].iter().map(|to| to.display().to_string()).collect()
    };
    assert_eq!(arrows("lib.rs"), ["c/d.rs"]);
    assert_eq!(arrows("a.rs"), ["b.rs"]);
    assert_eq!(arrows("b.rs"), ["a.rs", "lib.rs"], "through the re-export");
    assert_eq!(arrows("c/d.rs"), ["c/mod.rs"]);
    assert!(arrows("c/mod.rs").is_empty(), "a re-export does not count as a use");
    assert_eq!(arrows("c/g.rs"), ["e/f.rs", "e/mod.rs"]);
    assert_eq!(arrows("e/mod.rs"), ["c/d.rs", "c/mod.rs"]);
    let cycle = |files: [&str; 2]| -> BTreeSet<PathBuf> { files.map(PathBuf::from).into() };
    assert_eq!(arrows("h/j.rs"), ["h/i.rs"], "a module and a function have one name");
    let of_files = [["a.rs", "b.rs"], ["h/i.rs", "h/j.rs"]].map(cycle);
    assert_eq!(cycles(&graph), of_files);
    let [first, second] = of_files;
    assert_eq!(cycles(&entries(&graph)), [first, cycle(["c", "e"]), second]);
}
