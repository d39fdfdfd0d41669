import type { PackageAddition } from '../../src/model/approval.ts'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import type { LedgerEvent } from '../../src/model/event.ts'
import type { Order } from '../../src/model/order.ts'
import type { FailedOutput, Report, Side } from '../../src/model/report.ts'
import { MACHINE } from '../model/a-machine.ts'
import { CampaignBuilder, candidateTree, HARNESS, START } from '../plan/a-campaign.ts'
import { reportOf } from '../plan/a-report.ts'
import { type Facts, settle } from '../plan/a-world.ts'
import { adding, published } from '../plan/an-addition.ts'

/** The campaign that the pictures of the docs show: planned by `plan`, measured by a seeded machine. */
const SPEC = `winnow: 1
name: speed
metric:
  primary: { name: cpu_seconds, direction: minimize }
measurement: { command: node bench/words.mjs }
gates: [{ name: tests, command: npm test }]
scope: { mutable: [src/] }
execution: { max_concurrent: 4 }
`

interface Idea {
  hypothesis: string
  category: string
  pull: number
  /** By what CPU time is multiplied, and memory. */
  cpu: number
  memory?: number
  breaks?: FailedOutput
  adds?: PackageAddition
  /** Changes the same file as the idea of this number. */
  with?: number
}

const FAILING: FailedOutput = {
  failing: [
    'not ok 14 - counts a word once a line',
    "  error: 'Expected values to be strictly equal: 3 !== 2'",
    'not ok 21 - keeps the order of first appearance',
    "  error: 'Expected values to be strictly equal: the !== a'",
  ],
  stdout: '# tests 133\n# pass 131\n# fail 2\n# duration_ms 412.7',
  stderr: 'npm error Lifecycle script `test` failed with error:\nnpm error code 1',
}

const MURMURHASH: PackageAddition = {
  ecosystem: 'npm',
  name: 'murmurhash',
  version: '2.0.1',
  source: 'https://registry.npmjs.org/',
  integrity: 'sha512-pWTBzr0Dq5J8y4y7Yt0Dhg==',
  direct: true,
  scripts: false,
  licence: 'MIT',
  path: 'package-lock.json',
  brings: 0,
}

const IDEAS: readonly Idea[] = [
  { hypothesis: 'Look words up in a Set', category: 'data structures', pull: 12, cpu: 0.81, memory: 1.031 },
  { hypothesis: 'Keep the compiled expression', category: 'caching', pull: 13, cpu: 0.996 },
  { hypothesis: 'Read the file in larger chunks', category: 'input', pull: 14, cpu: 0.925 },
  { hypothesis: 'Count while splitting', category: 'loops', pull: 15, cpu: 0.9, breaks: FAILING },
  { hypothesis: 'Parse numbers by hand', category: 'loops', pull: 16, cpu: 1.18 },
  {
    hypothesis: 'Hash words with murmurhash',
    category: 'data structures',
    pull: 17,
    cpu: 0.95,
    adds: MURMURHASH,
  },
  { hypothesis: 'Intern repeated words', category: 'memory', pull: 18, cpu: 0.88, with: 1 },
  { hypothesis: 'Sort once, at the end', category: 'loops', pull: 20, cpu: 0.72 },
  { hypothesis: 'Skip empty lines first', category: 'input', pull: 21, cpu: 0.991 },
]

function idOf(at: number): string {
  return `exp-${String(at + 1).padStart(3, '0')}`
}

/** Three rounds, a stop by a person, and the measurement of the total after it. */
export function seedCampaign(): LedgerEvent[] {
  const built = new CampaignBuilder(SPEC)
  built.add({
    kind: 'campaign-started',
    cause: START.commit,
    spec: 'speed',
    spec_path: '.winnow/speed.yaml',
    spec_sha256: hashSha256(SPEC),
    spec_yaml: SPEC,
    rule_version: '1',
    default_branch: 'refs/heads/main',
    object_format: 'sha1',
    start: START,
    harness: HARNESS,
    first_number: 1,
    winnow: '1.0.0',
    host: 'github',
    private_repository: false,
  })
  const campaign = new MeasuredCampaign(built)
  campaign.measureAll()
  built.guarded()
  campaign.offer(0, 4)
  campaign.measureAll()
  campaign.offer(4, 8)
  campaign.measureAll()
  campaign.offer(8, 9)
  campaign.measureAll()
  built.add({
    kind: 'campaign-stopped',
    cause: 'comment:1',
    code: 'person',
    reason: 'enough for this release',
  })
  campaign.measureAll()
  return built.events
}

/** Runs of GitHub Actions as the ledger sees them: each order on a fresh machine, with seeded noise. */
class MeasuredCampaign {
  readonly #built: CampaignBuilder
  /** CPU time and memory of each tree, against the start. */
  readonly #levels = new Map<string, { cpu: number; memory: number }>([[START.tree, { cpu: 1, memory: 1 }]])
  #runs = 0

  constructor(built: CampaignBuilder) {
    this.#built = built
  }

  offer(from: number, to: number): void {
    for (const { hypothesis, category, pull } of IDEAS.slice(from, to))
      this.#built.withExperiment({
        hypothesis,
        category,
        pull,
        owned: false,
        branch: `idea-${pull}`,
        source: { use: 'external', key: `pull:${pull}` },
      })
  }

  measureAll(): void {
    for (let rounds = 0; rounds < 80; rounds++) {
      settle(this.#built, () => ({
        candidates: this.#facts(),
        runner: { runId: null, machine: null, external: true },
        releases: published('2024-04-02T09:21:13.000Z', MURMURHASH),
      }))
      const open = Object.values(this.#built.campaign.orders).filter(({ report }) => report === null)
      if (open.length === 0) return
      for (const { order } of open) this.#measure(order)
    }
    throw new Error('it is measured for ever')
  }

  #facts(): Record<string, Facts> {
    return Object.fromEntries(
      IDEAS.map(({ adds, with: other }, at) => [
        idOf(at),
        {
          files: [`src/${other ?? at + 1}.js`],
          ...(adds === undefined ? {} : { additions: adding(adds) }),
        },
      ]),
    )
  }

  #measure(order: Order): void {
    this.#runs += 1
    const run = `actions:${17_204_310_000 + 11 * this.#runs}/1`
    const { campaign } = this.#built
    for (const { label, tree } of order.candidates) {
      const idea = IDEAS.find((_, at) => idOf(at) === label)
      const base = this.#levelOf(order.base.tree)
      if (idea !== undefined && tree === candidateTree(campaign, label))
        this.#levels.set(tree, { cpu: base.cpu * idea.cpu, memory: base.memory * (idea.memory ?? 1) })
    }
    const rest = { run_id: run, machine: { ...MACHINE, boot_id: `machine ${this.#runs}` } }
    const behaviourOf = (side: Side) => this.#behaviour(order, side)
    const report = this.#withOutput(reportOf({ order, spec: this.#built.spec, behaviourOf }, rest))
    this.#built.add(
      { kind: 'order-dispatched', cause: order.id, order: order.id, run_id: run },
      { kind: 'measured', cause: order.id, order: order.id, run_id: run, report: timed(report) },
    )
  }

  #behaviour(order: Order, side: Side) {
    const at = IDEAS.findIndex((_, index) => idOf(index) === side)
    if (IDEAS[at]?.breaks !== undefined) return 'gate-fails' as const
    const tree = order.candidates.find(({ label }) => label === side)?.tree ?? order.base.tree
    const level = this.#levelOf(tree)
    const machine = 1 + 0.06 * noise(`${order.id} machine`)
    return (nth: number) => {
      const moment = machine * (1 + 0.006 * noise(`${order.id} ${side} ${nth}`))
      const cpu = 0.222 * level.cpu * moment
      const memory = 41.2 * level.memory * (1 + 0.002 * noise(`${order.id} ${side} ${nth} memory`))
      return { cpu_seconds: cpu, wall_seconds: cpu * 1.04, max_rss_mb: memory }
    }
  }

  #levelOf(tree: string): { cpu: number; memory: number } {
    const level = this.#levels.get(tree)
    if (level === undefined) throw new Error(`nothing is known of tree ${tree}`)
    return level
  }

  #withOutput(report: Report): Report {
    const gates = report.gates.map(gate => {
      const idea = IDEAS.find((_, at) => idOf(at) === gate.side)
      if (gate.passed) return { ...gate, tests_passed: 133 }
      return idea?.breaks === undefined ? gate : { ...gate, output: idea.breaks }
    })
    return { ...report, gates }
  }
}

/** Half a second an execution, and a minute of set-up. */
function timed(report: Report): Report {
  const started = Date.parse('2026-01-01T00:00:00Z')
  const seconds = 60 + report.executions.length / 2
  return { ...report, finished_at: new Date(started + seconds * 1000).toISOString() }
}

/** Normal enough, and the same for the same words. */
function noise(seed: string): number {
  const digits = hashSha256(seed)
  const parts = [0, 8, 16, 24, 32, 40].map(at => Number.parseInt(digits.slice(at, at + 8), 16) / 2 ** 32)
  return parts.reduce((sum, part) => sum + part - 0.5, 0) * Math.SQRT2
}
