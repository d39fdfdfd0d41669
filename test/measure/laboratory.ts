import { onTestFinished } from 'vitest'
import type { Repository } from '../../src/git/repository.ts'
import { listTreeFiles } from '../../src/git/tree.ts'
import { computeHarnessHash, selectHarnessEntries } from '../../src/measure/harness-check.ts'
import { measureOrder } from '../../src/measure/measure.ts'
import type { MeasureInput } from '../../src/measure/session.ts'
import type { Order, StopRule } from '../../src/model/order.ts'
import { type Report, reportSchema } from '../../src/model/report.ts'
import type { Spec, SpecRules } from '../../src/spec/schema.ts'
import { aSpec } from '../decide/a-spec.ts'
import { bareRemote, open } from '../git/scratch.ts'
import { anOrder } from '../model/an-order.ts'
import { PATH } from './processes.ts'
import { scratch } from './scratch.ts'

type Files = Record<string, string>

export interface Experiment {
  /** Files of the pin and the base. */
  files?: Files
  /** Files of the base that differ from the pin's. */
  base?: Files
  /** What each candidate changes, by label. */
  candidates?: Record<string, Files>
  spec?: Record<string, unknown>
  rules?: SpecRules
  stop?: StopRule
  order?: Partial<Order>
  input?: Partial<MeasureInput>
}

/** A real repository and work directory, in which orders are measured for real. */
export interface Laboratory {
  repository: Repository
  workDir: string
  input(experiment: Experiment): Promise<MeasureInput>
  measure(experiment: Experiment): Promise<Report>
}

export async function laboratory(): Promise<Laboratory> {
  const repository = await open({ remote: bareRemote().dir })
  const workDir = scratch()
  const self: Laboratory = {
    repository,
    workDir,
    input: experiment => inputOf(self, experiment),
    async measure(experiment) {
      // What the runner says is read by others as untrusted data: it has to fit its schema.
      return reportSchema.parse(await measureOrder(await inputOf(self, experiment)))
    },
  }
  return self
}

/** A harness that prints the number in src/value. */
export const PRINTS_VALUE: Files = {
  'bench.sh': 'echo "{\\"bytes\\": $(cat src/value)}"\n',
  'src/value': '100\n',
}

async function treeOf(repository: Repository, from: string, files: Files): Promise<string> {
  const changes = []
  for (const [path, content] of Object.entries(files)) {
    changes.push({ path, entry: { mode: '100644' as const, oid: await repository.writeBlob(content) } })
  }
  return repository.replaceEntries(from, changes)
}

async function inputOf({ repository, workDir }: Laboratory, experiment: Experiment): Promise<MeasureInput> {
  const spec = specOf(experiment)
  const pin = await treeOf(repository, repository.emptyTree, experiment.files ?? PRINTS_VALUE)
  const base = await treeOf(repository, pin, experiment.base ?? {})
  const candidates: Order['candidates'] = []
  for (const [label, files] of Object.entries(experiment.candidates ?? {})) {
    candidates.push({ label, head: '1'.repeat(40), tree: await treeOf(repository, base, files) })
  }
  const commit = '2'.repeat(40)
  const order = anOrder({
    purpose: candidates.length === 0 ? 'calibration' : 'experiment',
    harness: computeHarnessHash(spec, selectHarnessEntries(spec, await listTreeFiles(repository, pin))),
    pin: { commit, tree: pin },
    base: { commit, tree: base },
    candidates,
    stop: experiment.stop ?? { rule: 'once', min_effect: 0, scale: 'linear' },
    ...experiment.order,
  })
  const cancel = new AbortController()
  onTestFinished(() => cancel.abort())
  return {
    order,
    spec,
    runId: 'run-1',
    repository,
    workDir,
    sharedRoot: null,
    env: { PATH, HOME: '/home/someone', SECRET_TOKEN: 'hidden' },
    now: () => Date.parse('2026-01-01T00:00:00Z'),
    monotonic: () => performance.now(),
    signal: cancel.signal,
    onStart: async () => {},
    ...experiment.input,
  }
}

function specOf({ spec = {}, rules = 'winnow' }: Experiment): Spec {
  const { measurement, scope, ...rest } = spec
  return aSpec(
    {
      scope: { mutable: ['src/'], immutable: rules === 'ce' ? ['bench.sh'] : [], ...Object(scope) },
      ...rest,
      measurement: { command: 'sh bench.sh', ...Object(measurement) },
    },
    rules,
  )
}
