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
import type { SuiteTask } from '../model/tasks.ts'
import { quoteShell, toSafeLine } from '../model/text.ts'
import type { Spec } from '../spec/schema.ts'
import { hasErrorCode } from './file-system.ts'
import { isFolder } from './isolation/side-users.ts'
import { readCapped } from './output/capped-file.ts'
import type { HarnessOutput } from './output/harness-output.ts'
import { LOSS_EXAMPLE } from './output/read-output.ts'
import { COMPLETION, readRunDefects } from './run-defects.ts'

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

interface TaskRunPlace {
  spec: Spec
  task: SuiteTask
  outDir: string
}

/** Adds the score of its task to what a run printed; for a loss, computed from its components. */
export function scoreTask(printed: HarnessOutput, { spec, task, outDir }: TaskRunPlace): HarnessOutput {
  const { name, type } = spec.metric.primary
  const { tasks: _own, tasks_meta: _meta, feedback, ...rest } = printed
  const metrics = type === 'loss' ? computeTaskLoss(rest.metrics, { spec, task, outDir }) : rest.metrics
  const score = Object.hasOwn(metrics, name) ? toFinite(metrics[name]) : null
  const said = Object.values(feedback ?? {}).join(' ')
  const found = type === 'loss' ? listRunDefects(spec, outDir) : []
  return { ...rest, metrics, tasks: { [task.name]: score }, ...toFeedback(task, [said, ...found]) }
}

/** The result of a run that failed; null where no loss is computed, so that the execution itself has failed. */
export function buildFailedTask({
  spec,
  task,
  outDir,
}: TaskRunPlace): Pick<HarnessOutput, 'metrics' | 'tasks' | 'feedback'> | null {
  const { name, type } = spec.metric.primary
  if (type !== 'loss') return null
  const worst = computeWorstLoss(selectLossTerms(spec, task))
  return {
    metrics: toLossMetrics(name, worst),
    tasks: { [task.name]: worst.total },
    ...toFeedback(task, listRunDefects(spec, outDir)),
  }
}

/** Only epochs read what went wrong in a run. */
function listRunDefects({ epochs }: Spec, outDir: string): string[] {
  const [folder] = epochs === null ? [] : listRunFolders(outDir)
  return folder === undefined ? [] : readRunDefects(folder)
}

function toFeedback({ name }: SuiteTask, texts: readonly string[]): Pick<HarnessOutput, 'feedback'> {
  const text = toSafeLine(texts.filter(each => each.trim() !== '').join('; '), MOST_FEEDBACK)
  return text === '' ? {} : { feedback: { [name]: text } }
}

function computeTaskLoss(
  printed: Readonly<MetricValues>,
  { spec, task, outDir }: TaskRunPlace,
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

const MOST_FOLDERS = 100
/** Where AWP puts the folder of a run, below the folder that it is given. */
const RUN_PARENTS = [[], ['runs'], ['workspace', 'runs']]

function readRunFiles(outDir: string): RunSignals {
  const [dir = outDir, ...others] = listRunFolders(outDir)
  if (others.length > 0)
    throw new HarnessError(`$WINNOW_OUT_DIR has ${others.length + 1} folders with ${COMPLETION}`)
  const completion = readText(join(dir, COMPLETION))
  const metrics = readText(join(dir, 'metrics.jsonl'))
  const lines = metrics?.split('\n').filter(line => line.trim() !== '') ?? null
  return readRunSignals(parseJson(completion), lines?.map(parseJson) ?? null)
}

/** The folders with the file that ends a run: the given one, or those of the first parent that has any. */
function listRunFolders(outDir: string): string[] {
  const isRun = (path: string) => readCapped(join(path, COMPLETION)).kind !== 'missing'
  if (isRun(outDir)) return [outDir]
  for (const names of RUN_PARENTS) {
    const isInside = names.every((_, at) => isFolder(join(outDir, ...names.slice(0, at + 1))))
    const folders = isInside ? listPaths(join(outDir, ...names)).slice(0, MOST_FOLDERS) : []
    const found = folders.filter(path => isFolder(path) && isRun(path))
    if (found.length > 0) return found
  }
  return []
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
