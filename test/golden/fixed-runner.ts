import type { Runner } from '../../src/engine/jobs/runner.ts'
import { type MachineInfo, buildMachineKey, type Report } from '../../src/model/report.ts'
import type { RunFacts } from '../../src/plan/world.ts'

const RUN = 'local:00000000-0000-4000-8000-000000000000:1:1'
const MACHINE: MachineInfo = {
  boot_id: '00000000-0000-4000-8000-000000000000',
  hostname_sha256: '0'.repeat(64),
  os: 'linux x64',
  kernel: '6.0.0',
  cpu_model: 'Golden CPU',
  cores: 4,
  memory_mb: 16_384,
  image: null,
  node: 'v20.0.0',
}
const TAKEN = { wall_seconds: 0.25, cpu_seconds: 0.125, max_rss_mb: 8 }
const REPORT_SECONDS = 90

/**
 * A report with everything replaced that no seed decides: the machine, and the time and memory that programs took.
 * They are part of events, and so of the ids of commits and orders, and of the coins of later orders.
 */
export function fixReport(report: Report): Report {
  const seconds = { seconds: 0.5 }
  return {
    ...report,
    machine: MACHINE,
    finished_at: new Date(Date.parse(report.started_at) + REPORT_SECONDS * 1000).toISOString(),
    setups: report.setups.map(setup => ({ ...setup, ...seconds })),
    gates: report.gates.map(gate => ({ ...gate, ...seconds })),
    executions: report.executions.map(execution => ({
      ...execution,
      wall_seconds: TAKEN.wall_seconds,
      metrics: Object.keys(execution.metrics).length === 0 ? {} : { ...execution.metrics, ...TAKEN },
    })),
  }
}

/** The runner of this machine, whose reports are fixed and whose runs have one id. */
export function fixRunner(runner: Runner): Runner {
  return {
    runId: RUN,
    machine: buildMachineKey(MACHINE),
    async facts(campaign) {
      const facts = await runner.facts(campaign)
      return { ...facts, runs: new Map([...facts.runs].map(([order, fact]) => [order, fixFact(fact)])) }
    },
    tidy: campaign => runner.tidy(campaign),
    dispatch: (order, spec, campaign) => runner.dispatch(order, spec, campaign),
    asks: runner.asks,
    propose: (who, request) => runner.propose(who, request),
    cancel: order => runner.cancel(order),
    cancelProposers: () => runner.cancelProposers(),
    get proposing() {
      return runner.proposing
    },
    holds: order => runner.holds(order),
    doing: order => runner.doing(order),
    get busy() {
      return runner.busy
    },
    settled: () => runner.settled(),
    finished: () => runner.finished(),
    close: () => runner.close(),
  }
}

function fixFact(fact: RunFacts): RunFacts {
  if (fact.state !== 'reported') return 'runId' in fact ? { ...fact, runId: RUN } : fact
  return { ...fact, runId: RUN, report: { ...fixReport(fact.report), run_id: RUN } }
}
