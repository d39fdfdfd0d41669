import { createToolBenchmark, findBenchmark } from './benchmarks.ts'
import type { HarnessTemplate, SkeletonRequest } from './harness.ts'
import {
  type Detection,
  type EntryPoint,
  findNearestAbove,
  type FoundBenchmark,
  getNestedText,
  getNestedValue,
  listImmutablePatterns,
  listSourceFiles,
  type ProjectFiles,
  type ProjectLocation,
  readTomlManifest,
} from './project.ts'

export function detectRust(project: ProjectLocation): Detection | null {
  const { files } = project
  if (!files.paths.includes('Cargo.toml')) return null
  const manifest = readTomlManifest(files, 'Cargo.toml')
  const sources = listSourceFiles(files, /\.rs$/)
  const locked = findNearestAbove(project, ['Cargo.lock']) === null ? '' : ' --locked'
  const bench = findRustBenchmark(files, manifest, locked)
  const mutable = sources.some(path => path.startsWith('src/')) ? ['src/'] : ['**/src/']
  const hasInnerTests = sources.some(
    path => path.startsWith('src/') && /#\[test\]/.test(files.text(path) ?? ''),
  )
  return {
    manager: 'cargo',
    setup: {
      command: bench?.output === 'cargo' ? `cargo bench --no-run${locked}` : `cargo build --release${locked}`,
      from: locked === '' ? 'Cargo.toml' : 'Cargo.lock',
    },
    test: { command: `cargo test --quiet${locked}`, from: 'Cargo.toml' },
    bench,
    mutable,
    immutable: listImmutablePatterns(files, mutable, [
      { pattern: '**/tests.rs', matches: /(?:^|\/)tests\.rs$/ },
    ]),
    entry: findRustEntry(files, manifest),
    interpreter: 'cargo run',
    weight: sources.length,
    notes: hasInnerTests
      ? [
          'experiments may change the tests inside src/ with the code that they test; they may not change tests/',
        ]
      : [],
  }
}

function findRustBenchmark(files: ProjectFiles, manifest: unknown, locked: string): FoundBenchmark | null {
  const declared = getNestedValue(manifest, 'bench')
  const names = Array.isArray(declared) ? declared.flatMap(one => getNestedText(one, 'name') ?? []) : []
  const own = files.paths.flatMap(path => /^benches\/([^/]+)(?:\.rs|\/main\.rs)$/.exec(path)?.[1] ?? [])
  const all = [...new Set([...names, ...own])]
  const [first] = all
  if (first !== undefined) {
    const target = all.length === 1 ? ` --bench ${first}` : ' --benches'
    const from = all.length === 1 ? `benches/${first}.rs` : `${all.length} benches`
    return createToolBenchmark(`cargo bench${locked}${target}`, from, 'cargo')
  }
  return findBenchmark(files, /\.sh$/).bench
}

function findRustEntry(files: ProjectFiles, manifest: unknown): EntryPoint | null {
  const name = getNestedText(manifest, 'package', 'name')
  if (name === null) return null
  const library = files.text('src/lib.rs')
  const functionName =
    library === null ? undefined : /^pub fn ((?!main|run|serve|listen|start)\w+)\(\) ->/m.exec(library)?.[1]
  if (functionName !== undefined) return { kind: 'function', module: name, name: functionName }
  if (library !== null || files.paths.includes('src/lib.rs')) return { kind: 'module', path: name }
  return files.paths.includes('src/main.rs') ? { kind: 'program', command: `target/release/${name}` } : null
}

// Harness

/** Adds a crate outside the project's workspace, so that no existing file changes. */
export function buildRustHarness({ name, entry }: SkeletonRequest): HarnessTemplate {
  const folder = `bench/${name}`
  const manifest = `${folder}/Cargo.toml`
  const crate = `bench-${name}`
  const library = getCrateName(entry)
  const module = library?.replaceAll('-', '_') ?? 'my_crate'
  const subject = library === null ? '' : `\n[dependencies]\n${library} = { path = "../.." }\n`
  const manifestText = `[package]
name = "${crate}"
version = "0.0.0"
edition = "2021"
publish = false
${subject}
[workspace]
`
  return {
    path: `${folder}/src/main.rs`,
    command: `./${folder}/target/release/${crate}`,
    byHand: `cargo run --release --manifest-path ${manifest}`,
    otherFiles: [{ path: manifest, text: manifestText }],
    build: `cargo build --release --quiet --manifest-path ${manifest} --target-dir ${folder}/target`,
    buildsProject: library !== null,
    commentSign: '//',
    exampleCall: `${module}::parse(&input)`,
    render: (head, workload) => `${head}
use std::hint::black_box;
use std::time::Instant;

${workload}
fn workload() -> usize {
${renderRustBody(entry, module)}
}
// ================================

/// Milliseconds of that many calls.
fn took(calls: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(workload());
    }
    start.elapsed().as_secs_f64() * 1000.0
}

fn main() {
    let mut calls = 1;
    while took(calls) < 5.0 {
        calls *= 2;
    }
    let mut times: Vec<f64> = (0..15).map(|_| took(calls) / f64::from(calls)).collect();
    times.sort_by(f64::total_cmp);
    println!("{{\\"milliseconds\\": {}, \\"output_bytes\\": {}}}", times[7], workload());
}
`,
  }
}

/** Null: no library to call. */
function getCrateName(entry: EntryPoint | null): string | null {
  if (entry === null || entry.kind === 'program') return null
  return entry.kind === 'module' ? entry.path : entry.module
}

/** Returns the size of the answer, so that an empty answer becomes visible. */
function renderRustBody(entry: EntryPoint | null, library: string): string {
  if (entry?.kind === 'function') return `    std::mem::size_of_val(&black_box(${library}::${entry.name}()))`
  if (entry?.kind === 'program') {
    return [
      `    let answer = std::process::Command::new("${entry.command}").arg("--help").output().unwrap();`,
      '    answer.stdout.len() + answer.stderr.len()',
    ].join('\n')
  }
  return [
    '    let mut numbers: Vec<u32> = (0..10_000).map(|n| n * 7919 % 10_007).collect();',
    '    numbers.sort();',
    '    black_box(numbers).len()',
  ].join('\n')
}
