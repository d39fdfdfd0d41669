import { observePair } from '../../src/decide/evidence/observe.ts'
import { type EvidenceState, startEvidence } from '../../src/decide/evidence/state.ts'
import { getEvidenceStatus } from '../../src/decide/evidence/rules.ts'
import { drawRunner, type Job, type World } from './noise.ts'
import { MIN_EFFECT } from './our-rule.ts'

interface Candidate {
  effect: number
  state: EvidenceState
}

/** Candidates measured in shared jobs: each block is one base run and one of every candidate still measured. */
export function measureTogether(
  world: World,
  effects: readonly number[],
): { states: readonly EvidenceState[]; executions: number; jobs: number } {
  const state = startEvidence({ direction: 'minimize', minEffect: MIN_EFFECT })
  const candidates: Candidate[] = effects.map(effect => ({ effect, state }))
  let [executions, jobs] = [0, 0]
  for (;;) {
    const waiting = candidates.filter(candidate => getEvidenceStatus(candidate.state).status === 'new-job')
    if (waiting.length === 0) break
    jobs += 1
    executions += sharedJob(world, waiting, jobs)
  }
  return { states: candidates.map(candidate => candidate.state), executions, jobs }
}

/** Who has screened or dropped sits out the rest of the job. Answers how many executions it took. */
function sharedJob(world: World, candidates: Candidate[], number: number): number {
  const runner = drawRunner(world)
  const job = runner.startJob()
  const gains = new Map(candidates.map(candidate => [candidate, runner.gainOf(candidate.effect)]))
  let executions = runBlock(world, job, candidates, gains).size
  let measured = candidates
  do {
    const block = runBlock(world, job, measured, gains)
    executions += block.size
    for (const candidate of measured) candidate.state = observed(candidate, block, number)
    measured = measured.filter(({ state }) => getEvidenceStatus(state).status === 'continue')
  } while (measured.length > 0)
  return executions
}

type Block = ReadonlyMap<Candidate | 'base', { time: number; place: number }>

function runBlock(
  { random }: World,
  job: Job,
  candidates: readonly Candidate[],
  gains: ReadonlyMap<Candidate, number>,
): Block {
  const arms = random.shuffled<Candidate | 'base'>(['base', ...candidates])
  return new Map(
    arms.map((arm, place) => {
      const gain = arm === 'base' ? 0 : (gains.get(arm) ?? 0)
      return [arm, { time: job(gain, place === 0), place }]
    }),
  )
}

function observed(candidate: Candidate, block: Block, number: number): EvidenceState {
  const [base, own] = [block.get('base'), block.get(candidate)]
  if (base === undefined || own === undefined)
    throw new Error('a block has a base and each of its candidates')
  return observePair(candidate.state, {
    base: Math.exp(base.time),
    candidate: Math.exp(own.time),
    job: number,
    order: base.place < own.place ? 'base-first' : 'candidate-first',
  })
}
