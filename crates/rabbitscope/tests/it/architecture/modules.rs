//! The module files of each crate, and the imports between them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use syn::{
    Attribute, ImplItemFn, Item, ItemFn, TraitItemFn, UseTree, Visibility, ext::IdentExt,
    spanned::Spanned, visit::Visit,
};

/// Path of a module, such as `["link", "publishing"]`; the crate's root is empty.
type ModulePath = Vec<String>;

/// What the tests judge of one source file. The parsed file cannot be shared between threads.
pub(super) struct Module {
    pub(super) file: PathBuf,
    pub(super) lines: usize,
    /// Whether the file has more than modules and imports.
    pub(super) has_logic: bool,
    /// Lines and names of functions outside of tests.
    pub(super) functions: Vec<(usize, String)>,
    /// Paths that the file uses.
    used: Vec<Vec<String>>,
    /// Names that the file re-exports, with their paths.
    exported: Vec<(String, Vec<String>)>,
}

impl Module {
    fn new(file: &Path, text: &str, syntax: &syn::File) -> Self {
        let (mut paths, mut lengths) = (Paths::default(), Lengths::default());
        paths.visit_file(syntax);
        lengths.visit_file(syntax);
        let exported = syntax.items.iter().flat_map(|item| match item {
            Item::Use(item) if !matches!(item.vis, Visibility::Inherited) => used(&item.tree),
            _ => Vec::new(),
        });
        Self {
            file: file.to_owned(),
            lines: text.lines().count(),
            has_logic: !syntax.items.iter().all(|item| matches!(item, Item::Mod(_) | Item::Use(_))),
            functions: lengths.0,
            used: paths.found,
            exported: exported.collect(),
        }
    }
}

/// All source files of a crate except tests, by module.
pub(super) struct Crate {
    modules: BTreeMap<ModulePath, Module>,
    /// Names that a module re-exports, with their definitions.
    exports: BTreeMap<ModulePath, BTreeMap<String, ModulePath>>,
}

/// Every crate of the workspace, by the name of its folder. To parse them takes seconds without optimisation.
pub(super) static CRATES: LazyLock<Vec<(String, Crate)>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), Crate::read(&folder.join(name)))).collect()
});

impl Crate {
    fn read(folder: &Path) -> Self {
        let mut read = Self { modules: BTreeMap::new(), exports: BTreeMap::new() };
        let src = folder.join("src");
        read.add(Vec::new(), &src.join("lib.rs"), &src);
        let exports = |(path, module): (&ModulePath, &Module)| {
            let exported = module.exported.iter();
            let names = exported.map(|(name, target)| (name.clone(), absolute(path, target)));
            (path.clone(), names.collect())
        };
        read.exports = read.modules.iter().map(exports).collect();
        read
    }

    /// Adds a module. `folder` has the files of its child modules.
    fn add(&mut self, path: ModulePath, file: &Path, folder: &Path) {
        let text = fs::read_to_string(file).unwrap_or_else(|_| panic!("no {}", file.display()));
        let syntax = syn::parse_file(&text).unwrap();
        for item in &syntax.items {
            let Item::Mod(item) = item else { continue };
            if item.content.is_some() || is_for_tests(&item.attrs) {
                continue;
            }
            let name = item.ident.unraw().to_string();
            let child: ModulePath = path.iter().cloned().chain([name.clone()]).collect();
            let inner = folder.join(&name);
            let beside = folder.join(format!("{name}.rs"));
            let file = if beside.is_file() { beside } else { inner.join("mod.rs") };
            self.add(child, &file, &inner);
        }
        self.modules.insert(path, Module::new(file, &text, &syntax));
    }

    pub(super) fn modules(&self) -> impl Iterator<Item = &Module> {
        self.modules.values()
    }

    /// Returns the modules whose names a module uses, such as `link::publishing`. Re-exports are followed to the
    /// definition of the name; a re-export is not a use.
    pub(super) fn imports(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, module) in &self.modules {
            let used = imports.entry(path.join("::")).or_default();
            for target in &module.used {
                let Some(first) = target.first() else { continue };
                let is_local = ["crate", "self", "super"].contains(&first.as_str())
                    || self.modules.contains_key(&absolute(path, &target[..1]));
                if !is_local {
                    continue;
                }
                let owner = self.owner(&absolute(path, target));
                if owner != *path {
                    used.insert(owner.join("::"));
                }
            }
        }
        imports
    }

    /// Returns the module that defines the item at a path.
    fn owner(&self, path: &[String]) -> ModulePath {
        let longest = (0..=path.len()).rev().find(|end| self.modules.contains_key(&path[..*end]));
        let at = longest.unwrap_or_default();
        let module = path[..at].to_vec();
        let Some(name) = path.get(at) else { return module };
        match self.exports[&module].get(name) {
            Some(target) if target[..] != path[..=at] => {
                let rest = path[at + 1..].iter().cloned();
                self.owner(&target.iter().cloned().chain(rest).collect::<Vec<_>>())
            }
            _ => module,
        }
    }
}

/// Paths in a file outside of tests and re-exports.
#[derive(Default)]
struct Paths {
    found: Vec<Vec<String>>,
}

impl<'a> Visit<'a> for Paths {
    fn visit_item(&mut self, item: &'a Item) {
        match item {
            Item::Mod(inner) if is_for_tests(&inner.attrs) => {}
            Item::Impl(inner) if is_for_tests(&inner.attrs) => {}
            Item::Fn(inner) if is_for_tests(&inner.attrs) => {}
            Item::Use(inner) => {
                if matches!(inner.vis, Visibility::Inherited) && !is_for_tests(&inner.attrs) {
                    self.found.extend(used(&inner.tree).into_iter().map(|(_, path)| path));
                }
            }
            _ => syn::visit::visit_item(self, item),
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let segments = path.segments.iter().map(|segment| segment.ident.unraw().to_string());
        let segments: Vec<String> = segments.collect();
        if ["crate", "self", "super"].contains(&segments[0].as_str()) && segments.len() > 1 {
            self.found.push(segments);
        }
        syn::visit::visit_path(self, path);
    }
}

/// Lengths and names of functions outside of tests, from the opening brace to the line before the closing one.
#[derive(Default)]
struct Lengths(Vec<(usize, String)>);

impl Lengths {
    fn add(&mut self, name: &syn::Ident, block: &syn::Block) {
        let span = block.span();
        self.0.push((span.end().line - span.start().line, name.to_string()));
    }
}

impl<'a> Visit<'a> for Lengths {
    fn visit_item(&mut self, item: &'a Item) {
        if !matches!(item, Item::Mod(inner) if is_for_tests(&inner.attrs)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        self.add(&function.sig.ident, &function.block);
    }

    fn visit_impl_item_fn(&mut self, function: &'a ImplItemFn) {
        self.add(&function.sig.ident, &function.block);
    }

    fn visit_trait_item_fn(&mut self, function: &'a TraitItemFn) {
        if let Some(block) = &function.default {
            self.add(&function.sig.ident, block);
        }
    }
}

/// Returns each name that a `use` imports, with its path.
fn used(tree: &UseTree) -> Vec<(String, Vec<String>)> {
    match tree {
        UseTree::Path(path) => used(&path.tree)
            .into_iter()
            .map(|(name, rest)| {
                (name, [path.ident.unraw().to_string()].into_iter().chain(rest).collect())
            })
            .collect(),
        UseTree::Name(name) if name.ident == "self" => vec![(String::new(), Vec::new())],
        UseTree::Name(name) => {
            let name = name.ident.unraw().to_string();
            vec![(name.clone(), vec![name])]
        }
        UseTree::Rename(rename) => {
            vec![(rename.rename.to_string(), vec![rename.ident.unraw().to_string()])]
        }
        UseTree::Glob(_) => vec![("*".to_owned(), Vec::new())],
        UseTree::Group(group) => group.items.iter().flat_map(used).collect(),
    }
}

/// Makes a path in a module absolute, from the crate's root.
fn absolute(module: &[String], path: &[String]) -> ModulePath {
    let mut from = module.to_vec();
    let mut rest = path;
    while let [first, others @ ..] = rest {
        match first.as_str() {
            "crate" => from.clear(),
            "super" => drop(from.pop()),
            "self" => {}
            _ => break,
        }
        rest = others;
    }
    from.into_iter().chain(rest.iter().cloned()).collect()
}

/// Returns whether the attributes have `#[cfg(test)]` or `#[cfg(fuzzing)]`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|condition| condition == "test" || condition == "fuzzing")
    })
}
