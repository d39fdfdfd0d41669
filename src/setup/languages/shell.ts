import { benchScript, othersNote } from '../bench-script.ts'
import type { Findings, FoundCommand, Yard } from '../findings.ts'
import type { ProjectFiles } from '../project-files.ts'
import { placesOf, PROSE, sourceFiles } from '../sources.ts'
import { benchTarget, testTarget } from '../task-files.ts'

/** What is left where no other language is found: scripts, make targets, or nothing but files. */
export function detectShell(yard: Yard): Findings | null {
  const { files } = yard
  const scripts = sourceFiles(files, /\.(?:sh|bash)$/)
  const bench = benchScript(files, /\.(?:sh|bash)$/, 'sh')
  const target = benchTarget(files)
  if (scripts.length === 0 && bench === null && target === null && testTarget(files) === null) return null
  const sources = scripts.length > 0 ? scripts : textsOf(files)
  const [program] = scripts
  return {
    language: 'shell',
    manager: null,
    setup: null,
    test: testTarget(files) ?? testScript(files),
    bench: bench?.found ?? target,
    mutable: placesOf(sources, ['src/', 'lib/', 'bin/']),
    immutable: [],
    entry: program === undefined ? null : { kind: 'program', command: `sh ${program} --help` },
    interpreter: 'sh',
    weight: scripts.length,
    notes: othersNote(bench?.others ?? []),
  }
}

/** Without scripts: what lies in the usual places, or else prompts and other texts. */
function textsOf(files: ProjectFiles): string[] {
  const usual = files.paths.filter(path => /^(?:src|lib)\//.test(path))
  return usual.length > 0 ? usual : sourceFiles(files, PROSE)
}

function testScript({ paths }: ProjectFiles): FoundCommand | null {
  const own = paths.find(path =>
    /^(?:tests?\/(?:run|test|all)\.(?:sh|bash)|tests?\.sh|bench\/test\.sh)$/.test(path),
  )
  const suite = paths.find(path => /^tests?\/[^/]+\.bats$/.test(path))
  if (suite !== undefined) return { command: `bats ${suite.slice(0, suite.indexOf('/'))}`, from: suite }
  return own === undefined ? null : { command: `sh ${own}`, from: own }
}
