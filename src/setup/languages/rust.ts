import { findBenchScript } from '../bench-script.ts'
import { createToolBenchmark } from '../benchmark-tools.ts'
import type { EntryPoint, Findings, FoundBenchmark, ProjectLocation } from '../findings.ts'
import { findNearestAbove } from '../lockfiles.ts'
import { type ProjectFiles, getNestedText, readTomlManifest, getNestedValue } from '../project-files.ts'
import { listSourceFiles, listTestPatterns } from '../sources.ts'
import { findBenchTarget } from '../task-files.ts'

export function detectRust(yard: ProjectLocation): Findings | null {
  const { files } = yard
  if (!files.paths.includes('Cargo.toml')) return null
  const manifest = readTomlManifest(files, 'Cargo.toml')
  const sources = listSourceFiles(files, /\.rs$/)
  const locked = findNearestAbove(yard, ['Cargo.lock']) === null ? '' : ' --locked'
  const bench = findRustBenchmark(files, manifest, locked)
  const mutable = sources.some(path => path.startsWith('src/')) ? ['src/'] : ['**/src/']
  const inside = sources.some(path => path.startsWith('src/') && /#\[test\]/.test(files.text(path) ?? ''))
  return {
    language: 'rust',
    manager: 'cargo',
    setup: {
      command: bench?.output === 'cargo' ? `cargo bench --no-run${locked}` : `cargo build --release${locked}`,
      from: locked === '' ? 'Cargo.toml' : 'Cargo.lock',
    },
    test: { command: `cargo test --quiet${locked}`, from: 'Cargo.toml' },
    bench,
    mutable,
    immutable: listTestPatterns(files, mutable, [{ pattern: '**/tests.rs', matches: /(?:^|\/)tests\.rs$/ }]),
    entry: findRustEntry(files, manifest),
    interpreter: 'cargo run',
    weight: sources.length,
    notes: inside
      ? ['tests inside src/ may be changed with the code they test: tests/ is outside what may change']
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
    const which = all.length === 1 ? ` --bench ${first}` : ' --benches'
    const from = all.length === 1 ? `benches/${first}.rs` : `${all.length} benches`
    return createToolBenchmark(`cargo bench${locked}${which}`, from, 'cargo')
  }
  return findBenchScript(files, /\.sh$/, 'sh')?.found ?? findBenchTarget(files)
}

function findRustEntry(files: ProjectFiles, manifest: unknown): EntryPoint | null {
  const name = getNestedText(manifest, 'package', 'name')
  if (name === null) return null
  const library = files.text('src/lib.rs')
  const called =
    library === null ? undefined : /^pub fn ((?!main|run|serve|listen|start)\w+)\(\) ->/m.exec(library)?.[1]
  if (called !== undefined) return { kind: 'function', module: name, name: called }
  if (library !== null || files.paths.includes('src/lib.rs')) return { kind: 'module', path: name }
  return files.paths.includes('src/main.rs') ? { kind: 'program', command: `target/release/${name}` } : null
}
