import { PROOF_PAIRS } from '../../src/decide/evidence/give-up.ts'
import { isRepeatNeeded } from '../../src/decide/once.ts'
import { isPairNeeded } from '../../src/decide/paired/assess.ts'
import { drawSeed, drawTurns, getFirstBlock, type Order } from '../../src/model/order.ts'
import type { PartialReport } from '../../src/model/pairs.ts'
import type { Execution, Report, Side } from '../../src/model/report.ts'
import type { Spec } from '../../src/spec/schema.ts'
import { MACHINE } from '../model/a-machine.ts'

/** What a side does when it is run: numbers, or the way in which it goes wrong. */
export type Behaviour =
  | Record<string, number>
  | 'gate-fails'
  | 'crashes'
  | 'hangs'
  | 'set-up-fails'
  | 'tampers'
  /** Another number on every run. */
  | 'varies'
  /** What its n-th sample prints; null: it crashes. */
  | ((nth: number) => Record<string, number> | null)

export interface Scene {
  order: Order
  spec: Spec
  behaviourOf(side: Side): Behaviour
}

/** What an honest runner answers: it follows the coins of the order, and its stop rule. */
export function reportOf(scene: Scene, rest: Partial<Report> = {}): Report {
  const { order } = scene
  const sides = sidesOf(order)
  const built = drawTurns(order, 'build', sides)
  const working = built.filter(side => scene.behaviourOf(side) !== 'set-up-fails')
  const gated = working.filter(side => order.candidates.length === 0 || side !== 'base')
  const running = working.filter(side => scene.behaviourOf(side) !== 'gate-fails')
  const tamperer = running.find(side => scene.behaviourOf(side) === 'tampers')
  const executions: Execution[] = []
  if (running.length === sides.length) follow(scene, executions)
  return {
    order: order.id,
    run_id: 'run-1',
    started_at: '2026-01-01T00:00:00Z',
    finished_at: '2026-01-01T00:01:00Z',
    harness: order.harness,
    trees: Object.fromEntries(sides.map(side => [side, treeOf(order, side)])),
    machine: MACHINE,
    flags: [],
    setups: built.map(side => ({
      side,
      build: 0,
      ok: working.includes(side),
      timed_out: false,
      seconds: 1,
    })),
    gates: scene.spec.gates.flatMap(({ name }) => gated.map(side => gateRun(scene, side, name))),
    executions,
    tampered: tamperer === undefined ? null : { during: tamperer, path: 'bench/run' },
    runner_error: null,
    ...rest,
  }
}

/** What an honest runner leaves that is killed after so many of its executions, perhaps in the middle of the next. */
export function cutOff(scene: Scene, after: number): PartialReport {
  const whole = reportOf(scene)
  const report = { ...whole, executions: whole.executions.slice(0, after) }
  const next = whole.executions[after]
  if (next === undefined) return { report, begun: null }
  const block = whole.executions.slice(0, after).filter(({ side }) => side === next.side).length
  const sides = sidesOf(scene.order).filter(
    side => whole.executions.filter(run => run.side === side).length > block,
  )
  return { report, begun: { block, sides } }
}

export function sidesOf({ stop, candidates }: Order): Side[] {
  const labels = candidates.map(({ label }) => label)
  if (stop.rule === 'calibrate') return ['base']
  const alone = stop.rule === 'alone' || (stop.rule === 'stability' && stop.baseline !== null)
  return alone && labels.length > 0 ? labels : ['base', ...labels]
}

function treeOf(order: Order, side: Side): string {
  return order.candidates.find(({ label }) => label === side)?.tree ?? order.base.tree
}

function gateRun(scene: Scene, side: Side, name: string): Report['gates'][number] {
  const passed = scene.behaviourOf(side) !== 'gate-fails'
  return { side, name, phase: 'pre', passed, exit_code: passed ? 0 : 1, timed_out: false, seconds: 1 }
}

function follow(scene: Scene, executions: Execution[]): void {
  const { order, spec } = scene
  const sides = sidesOf(order)
  const { stop } = order
  switch (stop.rule) {
    case 'calibrate':
      for (let run = 0; run < stop.runs; run++)
        executions.push({ ...execute(scene, 'base', 'sample', run, run), build: run === 2 ? 1 : 0 })
      return
    case 'once': {
      for (const side of drawTurns(order, 0, sides)) executions.push(execute(scene, side, 'sample', 0, 0))
      const gained = sides.filter(side =>
        side === 'base'
          ? false
          : isRepeatNeeded({ spec, minEffect: stop.min_effect, scale: stop.scale }, { executions }, side),
      )
      if (gained.length === 0) return
      for (const side of drawTurns(order, 1, ['base', ...gained]))
        executions.push(execute(scene, side, 'repeat', 0, 1))
      return
    }
    case 'paired':
      return inBlocks(
        scene,
        Math.max(stop.pairs + PROOF_PAIRS, stop.keep_check?.pairs ?? 0),
        executions,
        side => isPairNeeded({ spec, order, stop }, { executions, runner: MACHINE.boot_id }, side),
      )
    case 'pairs':
      return inBlocks(scene, stop.pairs, executions, () => true)
    case 'holdout':
      for (let block = 0; block < stop.pairs; block++)
        for (const side of drawTurns(order, block, sides))
          executions.push(execute(scene, side, 'holdout', block, block))
      return
    case 'stability':
    case 'alone': {
      const samples =
        spec.measurement.stability?.mode === 'repeat' ? spec.measurement.stability.repeat_count : 1
      for (let block = 0; block < samples; block++)
        for (const side of drawTurns(order, block, sides))
          executions.push(execute(scene, side, 'sample', block, block))
      return
    }
    default:
      stop satisfies never
  }
}

function inBlocks(
  scene: Scene,
  pairs: number,
  executions: Execution[],
  wants: (side: Side) => boolean,
): void {
  const { order } = scene
  const failures = (side: Side) => executions.filter(run => run.side === side && run.status !== 'ok').length
  for (let block = getFirstBlock(order); block < pairs && failures('base') < 2; block++) {
    const due = order.candidates.map(({ label }) => label).filter(side => failures(side) < 2 && wants(side))
    if (due.length === 0) return
    for (const side of drawTurns(order, block, ['base', ...due]))
      executions.push(execute(scene, side, 'sample', block, block))
  }
}

function execute(scene: Scene, side: Side, role: Execution['role'], block: number, nth: number): Execution {
  const behaviour = scene.behaviourOf(side)
  const metrics = metricsOf(behaviour, nth)
  const crashed = behaviour === 'crashes' || metrics === null
  const failed = crashed || behaviour === 'hangs'
  return {
    side,
    role,
    build: 0,
    seed: drawSeed(scene.order, block),
    status: crashed ? 'crashed' : behaviour === 'hangs' ? 'timeout' : 'ok',
    exit_code: failed ? 1 : 0,
    signal: null,
    wall_seconds: 1,
    metrics: failed ? {} : (metrics ?? {}),
  }
}

function metricsOf(behaviour: Behaviour, nth: number): Record<string, number> | null {
  if (typeof behaviour === 'function') return behaviour(nth)
  if (typeof behaviour === 'object') return behaviour
  return behaviour === 'varies' ? { bytes: 5 + nth } : { bytes: 5 }
}
