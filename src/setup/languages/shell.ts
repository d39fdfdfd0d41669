import { findBenchScript, describeOtherBenchmarks } from '../bench-script.ts'
import type { Findings, FoundCommand, ProjectLocation } from '../findings.ts'
import type { ProjectFiles } from '../project-files.ts'
import { selectSourcePlaces, PROSE, listSourceFiles } from '../sources.ts'
import { findBenchTarget, findTestTarget } from '../task-files.ts'

/** What is left where no other language is found: scripts, make targets, or nothing but files. */
export function detectShell(yard: ProjectLocation): Findings | null {
  const { files } = yard
  const scripts = listSourceFiles(files, /\.(?:sh|bash)$/)
  const bench = findBenchScript(files, /\.(?:sh|bash)$/, 'sh')
  const target = findBenchTarget(files)
  if (scripts.length === 0 && bench === null && target === null && findTestTarget(files) === null) return null
  const sources = scripts.length > 0 ? scripts : listTextFiles(files)
  const [program] = scripts
  return {
    language: 'shell',
    manager: null,
    setup: null,
    test: findTestTarget(files) ?? findTestScript(files),
    bench: bench?.found ?? target,
    mutable: selectSourcePlaces(sources, ['src/', 'lib/', 'bin/']),
    immutable: [],
    entry: program === undefined ? null : { kind: 'program', command: `sh ${program} --help` },
    interpreter: 'sh',
    weight: scripts.length,
    notes: describeOtherBenchmarks(bench?.others ?? []),
  }
}

/** Without scripts: what lies in the usual places, or else prompts and other texts. */
function listTextFiles(files: ProjectFiles): string[] {
  const usual = files.paths.filter(path => /^(?:src|lib)\//.test(path))
  return usual.length > 0 ? usual : listSourceFiles(files, PROSE)
}

function findTestScript({ paths }: ProjectFiles): FoundCommand | null {
  const own = paths.find(path =>
    /^(?:tests?\/(?:run|test|all)\.(?:sh|bash)|tests?\.sh|bench\/test\.sh)$/.test(path),
  )
  const suite = paths.find(path => /^tests?\/[^/]+\.bats$/.test(path))
  if (suite !== undefined) return { command: `bats ${suite.slice(0, suite.indexOf('/'))}`, from: suite }
  return own === undefined ? null : { command: `sh ${own}`, from: own }
}
