import { UserError } from '../errors.ts'
import { type Findings, type Language, LANGUAGES, type ProjectLocation } from './findings.ts'
import { PROSE } from './sources.ts'
import { detectC } from './languages/c.ts'
import { detectGo } from './languages/go.ts'
import { detectJava } from './languages/java.ts'
import { detectNode } from './languages/node.ts'
import { detectPython } from './languages/python.ts'
import { detectRuby } from './languages/ruby.ts'
import { detectRust } from './languages/rust.ts'
import { detectShell } from './languages/shell.ts'

const DETECTORS: Readonly<Record<Language, (yard: ProjectLocation) => Findings | null>> = {
  node: detectNode,
  python: detectPython,
  go: detectGo,
  rust: detectRust,
  java: detectJava,
  ruby: detectRuby,
  c: detectC,
  shell: detectShell,
}

export interface DetectedProject {
  findings: Findings
  /** Other languages that could have been meant. */
  others: Language[]
}

/** The language that is meant: of several, one with a benchmark, then the one with most files. */
export function detectProject(yard: ProjectLocation, wanted: string | undefined): DetectedProject {
  const all = LANGUAGES.flatMap(language => DETECTORS[language](yard) ?? [])
  const real = all.filter(({ language }) => language !== 'shell')
  const candidates = real.length > 0 && wanted !== 'shell' ? real : all
  const ordered = candidates.toSorted(
    (a, b) => Number(b.bench !== null) - Number(a.bench !== null) || b.weight - a.weight,
  )
  const findings = wanted === undefined ? ordered[0] : ordered.find(({ language }) => language === wanted)
  if (findings === undefined) throw createNothingFoundError(yard, wanted, all)
  const others = ordered.map(({ language }) => language).filter(language => language !== findings.language)
  return { findings, others }
}

function createNothingFoundError(
  yard: ProjectLocation,
  wanted: string | undefined,
  all: readonly Findings[],
): UserError {
  const { directory, files } = yard
  const where = directory === '' ? 'here' : `in ${directory}`
  const texts = files.paths.filter(path => PROSE.test(path)).length
  if (wanted === undefined && texts > 0) {
    return new UserError(
      `${texts === 1 ? 'a text is' : `${texts} texts are`} committed ${where}, and no program. Missing is a command that shows how good they are`,
      {
        fix: 'commit a script, such as bench/outputs.sh, that runs the texts on fixed inputs and prints a number ({"score": 0.8}) or the outputs to be judged ({"items": [{"id": "a", "content": "…"}]}); then winnow init, or winnow init --goal "clearer answers"',
      },
    )
  }
  if (wanted === undefined) {
    return new UserError(
      `no project of a language that init knows was found ${where}, as far as it is committed`,
      {
        fix: `commit it first, or write .winnow/<name>.yaml by hand: four lines are enough (${LANGUAGES.join(', ')} are known)`,
      },
    )
  }
  const found = all.map(({ language }) => language).join(', ') || 'none'
  return new UserError(`no ${wanted} project was found ${where}; found: ${found}`, {
    fix: `--language is one of ${LANGUAGES.join(', ')}`,
  })
}
