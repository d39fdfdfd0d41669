import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  computeLoss,
  computeWorstLoss,
  mergeSignals,
  readRunSignals,
  type RunSignals,
  selectLossTerms,
  splitPrintedSignals,
  toLossMetrics,
} from '../decide/loss.ts'
import { HarnessError } from '../errors.ts'
import { MOST_FEEDBACK, type MetricValues, toFinite } from '../model/report.ts'
import { quoteShell, toSafeLine } from '../model/text.ts'
import type { Spec } from '../spec/schema.ts'
import type { SuiteTask } from '../spec/task-facts.ts'
import { hasErrorCode } from './file-system.ts'
import { isFolder } from './isolation/side-users.ts'
import { readCapped } from './output/capped-file.ts'
import type { HarnessOutput } from './output/harness-output.ts'
import { LOSS_EXAMPLE } from './output/read-output.ts'

/** A task of a suite: what the harness is told about it, and what its run says about itself. */

export function buildTaskCommand(command: string, { command: own, args = [] }: SuiteTask): string {
  return own ?? [command, ...args.map(quoteShell)].join(' ')
}

/** Both sides of a pair run the same task, so they see the same values. */
export function buildTaskEnvironment(task: SuiteTask): Record<string, string> {
  const { name, task: text, workflow, model, worker_model, budget } = task
  const values = {
    WINNOW_TASK: name,
    WINNOW_TASK_TEXT: text,
    WINNOW_TASK_WORKFLOW: workflow,
    WINNOW_TASK_MODEL: model,
    WINNOW_TASK_WORKER_MODEL: worker_model,
    WINNOW_TASK_BUDGET: budget === undefined ? undefined : JSON.stringify(budget),
  }
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )
}

/** Adds the score of its task to what a run printed; for a loss, computed from its components. */
export function scoreTask(
  printed: HarnessOutput,
  { spec, task, outDir }: { spec: Spec; task: SuiteTask; outDir: string },
): HarnessOutput {
  const { name, type } = spec.metric.primary
  const { tasks: _own, tasks_meta: _meta, feedback, ...rest } = printed
  const metrics = type === 'loss' ? computeTaskLoss(rest.metrics, { spec, task, outDir }) : rest.metrics
  const score = Object.hasOwn(metrics, name) ? toFinite(metrics[name]) : null
  const text = toSafeLine(Object.values(feedback ?? {}).join(' '), MOST_FEEDBACK)
  const written = text === '' ? {} : { feedback: { [task.name]: text } }
  return { ...rest, metrics, tasks: { [task.name]: score }, ...written }
}

/** The metrics of a run that failed; null where no loss is computed, so that the execution itself has failed. */
export function buildFailedTask(
  spec: Spec,
  task: SuiteTask,
): Pick<HarnessOutput, 'metrics' | 'tasks'> | null {
  const { name, type } = spec.metric.primary
  if (type !== 'loss') return null
  const worst = computeWorstLoss(selectLossTerms(spec, task))
  return { metrics: toLossMetrics(name, worst), tasks: { [task.name]: worst.total } }
}

function computeTaskLoss(
  printed: Readonly<MetricValues>,
  { spec, task, outDir }: { spec: Spec; task: SuiteTask; outDir: string },
): MetricValues {
  const { name } = spec.metric.primary
  if (Object.hasOwn(printed, name)) {
    const what = `${name} is the loss that winnow computes: print its components, or use metric.primary.type: hard`
    throw new HarnessError(what, { example: LOSS_EXAMPLE })
  }
  const terms = selectLossTerms(spec, task)
  const { signals, metrics } = splitPrintedSignals(printed, terms)
  const loss = computeLoss(mergeSignals(readRunFiles(outDir), signals), terms)
  if ('missing' in loss) {
    const are = loss.missing.length === 1 ? 'is' : 'are'
    const what = `${loss.missing.join(', ')} ${are} missing, neither printed nor in run_completion.json or metrics.jsonl of $WINNOW_OUT_DIR (metric.loss.missing: neutral counts 0.5)`
    throw new HarnessError(what, { example: LOSS_EXAMPLE })
  }
  return { ...metrics, ...toLossMetrics(name, loss) }
}

// Files of the run

const COMPLETION = 'run_completion.json'
const MOST_FOLDERS = 100

/** AWP writes its files into the given folder, or into a folder of the run in it. */
function readRunFiles(outDir: string): RunSignals {
  const dir = findRunFolder(outDir)
  const completion = readText(join(dir, COMPLETION))
  const metrics = readText(join(dir, 'metrics.jsonl'))
  const lines = metrics?.split('\n').filter(line => line.trim() !== '') ?? null
  return readRunSignals(parseJson(completion), lines?.map(parseJson) ?? null)
}

function findRunFolder(outDir: string): string {
  if (readCapped(join(outDir, COMPLETION)).kind !== 'missing') return outDir
  const folders = listPaths(outDir).slice(0, MOST_FOLDERS)
  const found = folders.filter(
    path => isFolder(path) && readCapped(join(path, COMPLETION)).kind !== 'missing',
  )
  if (found.length > 1)
    throw new HarnessError(`$WINNOW_OUT_DIR has ${found.length} folders with ${COMPLETION}`)
  return found[0] ?? outDir
}

function listPaths(dir: string): string[] {
  try {
    return readdirSync(dir).map(name => join(dir, name))
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return []
    throw error
  }
}

function readText(path: string): string | null {
  const read = readCapped(path)
  if (read.kind === 'too-large') throw new HarnessError(`${path} is too large: ${read.bytes} bytes`)
  return read.kind === 'text' ? read.text : null
}

/** Like AWP, lines that are no JSON say nothing. */
function parseJson(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}
