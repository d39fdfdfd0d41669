import { PROBE_NAMES, type ProbeName, toProbeLabel } from '../model/probe.ts'
import type { MetricValues } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { BUILT_IN_METRICS } from '../spec/schema-values.ts'
import { renderForgedOutput } from './forged-output.ts'
import { findHarnessWords } from './harness-words.ts'
import type { MemoryPlace, ProbeDeed, ProbeLanguage } from './language.ts'
import { c } from './languages/c.ts'
import { go } from './languages/go.ts'
import { java } from './languages/java.ts'
import { javascript } from './languages/javascript.ts'
import { python } from './languages/python.ts'
import { ruby } from './languages/ruby.ts'
import { rust } from './languages/rust.ts'
import { shell } from './languages/shell.ts'
import type { Probe, ProbeChange, SourceFile } from './probe.ts'
import { writeForgedTexts, writeInstructions, writeStuffedTexts } from './text-probes.ts'

const LANGUAGES: readonly ProbeLanguage[] = [javascript, python, go, rust, java, ruby, c, shell]

export interface ProbeTarget {
  spec: Spec
  /** The text files of the base that may change. */
  files: readonly SourceFile[]
  /** The base's numbers. Only names and values that were printed are forged. */
  metrics: MetricValues
}

/**
 * Writes the hostile changes for the code of a base. Two calls with the same input give the same changes, because
 * the tick and the measuring job both compute them. A probe that the languages cannot express is left out.
 */
export function listProbes({ spec, files, metrics }: ProbeTarget): Probe[] {
  const target = { spec, metrics, files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)) }
  return PROBE_NAMES.flatMap(name => {
    const changes = WRITERS[name](target)
    return changes.length === 0 ? [] : [{ name, label: toProbeLabel(name), changes }]
  })
}

type ProbeWriter = (target: ProbeTarget) => ProbeChange[]

const EXIT = { do: 'exit', only: null, forged: null } as const satisfies ProbeDeed

const WRITERS: Readonly<Record<ProbeName, ProbeWriter>> = {
  vanish: clearFiles,
  'exit-at-load': target => changeSources(target, ({ addAtLoad }, file) => addAtLoad(file, EXIT)),
  'exit-at-call': target => changeSources(target, ({ exitAtCall }, file) => exitAtCall(file)),
  'forge-output': target => writeForgery(target, 'stdout'),
  'forge-result-file': target => writeForgery(target, 'result file'),
  'answer-nothing': target => changeSources(target, ({ answerNothing }, file) => answerNothing(file)),
  detect: detectHarness,
  remember: target => addDeed(target, { do: 'remember', places: listMemoryPlaces(target.spec) }),
  'slow-clock': writeSlowClocks,
  'forge-text': writeForgedTexts,
  instruct: writeInstructions,
  stuff: writeStuffedTexts,
}

/** Without its manifest a project does not even install, which says nothing about the harness. */
const MANIFEST =
  /(?:^|\/)(?:package(?:-lock)?\.json|[^/]*\.(?:toml|lock|gemspec|xml|gradle)|go\.(?:mod|sum)|Gemfile)$/

function clearFiles({ files }: ProbeTarget): ProbeChange[] {
  return files
    .filter(({ path, content }) => content !== '' && !MANIFEST.test(path))
    .map(({ path }) => ({ path, content: '' }))
}

/** A forger leaves the gates alone, if the code can tell them from the harness. */
function writeForgery(target: ProbeTarget, channel: 'stdout' | 'result file'): ProbeChange[] {
  const { spec, metrics } = target
  // A separate scorer reads files of the harness, in a format of its own.
  const text = spec.measurement.score === null ? renderForgedOutput(spec, metrics) : null
  if (text === null) return []
  return addDeed(target, { do: 'exit', only: findHarnessWords(spec), forged: { channel, text } })
}

function detectHarness(target: ProbeTarget): ProbeChange[] {
  const only = findHarnessWords(target.spec)
  return only === null ? [] : addDeed(target, { do: 'exit', only, forged: null })
}

/** A clock that winnow reads itself cannot be replaced, and neither a loss nor a score has time in it. */
function writeSlowClocks(target: ProbeTarget): ProbeChange[] {
  const { metric, measurement } = target.spec
  if (metric.primary.type !== 'hard') return []
  const isPrinted = measurement.score === null && !BUILT_IN_METRICS.has(metric.primary.name)
  if (!isPrinted) return []
  const changes = addDeed(target, { do: 'slow clock' })
  // A program may define a function only once.
  const isRepeated = ({ path }: ProbeChange, at: number) =>
    rust.files.test(path) && changes.findIndex(each => rust.files.test(each.path)) !== at
  return changes.filter((change, at) => !isRepeated(change, at))
}

function listMemoryPlaces({ measurement }: Spec): MemoryPlace[] {
  return [
    { name: 'its folder', path: '.' },
    { name: 'HOME', variable: 'HOME' },
    { name: 'TMPDIR', variable: 'TMPDIR' },
    ...SHARED_FOLDERS.map(path => ({ name: path, path })),
    ...(measurement.keep_checkpoint
      ? []
      : [{ name: 'WINNOW_CHECKPOINT_DIR', variable: 'WINNOW_CHECKPOINT_DIR' }]),
    { name: 'WINNOW_OUT_DIR', variable: 'WINNOW_OUT_DIR' },
  ]
}

/** Folders that all programs of a machine may write to. */
export const SHARED_FOLDERS = ['/tmp', '/dev/shm', '/var/tmp'] as const

function addDeed(target: ProbeTarget, deed: ProbeDeed): ProbeChange[] {
  return changeSources(target, ({ addAtLoad }, file) => addAtLoad(file, deed))
}

function changeSources(
  { files }: ProbeTarget,
  write: (language: ProbeLanguage, file: SourceFile) => string | null,
): ProbeChange[] {
  return files.flatMap(file => {
    const language = findLanguage(file)
    const content = language === undefined ? null : write(language, file)
    return content === null || content === file.content ? [] : [{ path: file.path, content }]
  })
}

function findLanguage({ path, content }: SourceFile): ProbeLanguage | undefined {
  const named = LANGUAGES.find(({ files }) => files.test(path))
  if (named !== undefined || /\.\w+$/.test(path)) return named
  const [first = ''] = content.split('\n', 1)
  return first.startsWith('#!') ? LANGUAGES.find(({ interpreters }) => interpreters?.test(first)) : undefined
}
