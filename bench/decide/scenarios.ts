/** Parameters of the noise of one kind of runner, all in log time. */
export interface Scenario {
  name: string
  /** CPU models of the fleet: how likely, and how much slower or faster. */
  cpus: readonly { chance: number; offset: number }[]
  /** From job to job. */
  job: number
  /** Slow drift within a job, autoregressive. */
  drift: { phi: number; sd: number }
  /** From execution to execution: Student's t. */
  execution: { sd: number; df: number }
  spike: { chance: number; mean: number }
  /** What the first execution of a job costs more; 30 % of it remains for each one after. */
  warmUp: number
  /** What it costs to be the first of a pair or block. */
  slot: number
  /** How far a stored score has moved when it is used. */
  calendar: number
  /** How much an effect differs from runner to runner, as a part of it. */
  effectSpread: number
  /** A machine with two speeds: the share of slow executions, and how likely the next one has the same speed. */
  modes?: { slow: number; slower: number; stays?: number }
  /** Something else that runs at every nth execution. */
  periodic?: { every: number; slower: number }
  /** A machine that gets slower as it gets warmer: by this much in the end, and by this share of the rest each time. */
  thermal?: { slower: number; rate: number }
  /** The clock counts in such steps, as a share of a typical time. */
  clockStep?: number
}

export type ScenarioName = 'dedicated' | 'quiet' | 'typical' | 'noisy'

export const SCENARIOS: Record<ScenarioName, Scenario> = {
  dedicated: {
    name: 'dedicated',
    cpus: [{ chance: 1, offset: 0 }],
    job: 0.003,
    drift: { phi: 0.7, sd: 0.002 },
    execution: { sd: 0.007, df: 5 },
    spike: { chance: 0.02, mean: 0.03 },
    warmUp: 0.01,
    slot: 0.002,
    calendar: 0.003,
    effectSpread: 0,
  },
  quiet: {
    name: 'quiet',
    cpus: [
      { chance: 0.6, offset: 0 },
      { chance: 0.4, offset: 0.03 },
    ],
    job: 0.02,
    drift: { phi: 0.8, sd: 0.004 },
    execution: { sd: 0.01, df: 4 },
    spike: { chance: 0.03, mean: 0.05 },
    warmUp: 0.02,
    slot: 0.003,
    calendar: 0.01,
    effectSpread: 0.25,
  },
  typical: {
    name: 'typical',
    cpus: [
      { chance: 0.55, offset: 0 },
      { chance: 0.35, offset: -0.1 },
      { chance: 0.1, offset: 0.12 },
    ],
    job: 0.03,
    drift: { phi: 0.8, sd: 0.008 },
    execution: { sd: 0.02, df: 4 },
    spike: { chance: 0.05, mean: 0.1 },
    warmUp: 0.03,
    slot: 0.004,
    calendar: 0.02,
    effectSpread: 0.25,
  },
  noisy: {
    name: 'noisy',
    cpus: [
      { chance: 0.5, offset: 0 },
      { chance: 0.35, offset: -0.15 },
      { chance: 0.15, offset: 0.25 },
    ],
    job: 0.06,
    drift: { phi: 0.85, sd: 0.02 },
    execution: { sd: 0.04, df: 3 },
    spike: { chance: 0.08, mean: 0.25 },
    warmUp: 0.05,
    slot: 0.006,
    calendar: 0.04,
    effectSpread: 0.25,
  },
}

export const SCENARIO_NAMES = ['dedicated', 'quiet', 'typical', 'noisy'] as const satisfies ScenarioName[]
