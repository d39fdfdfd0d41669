import type { Owner } from '../measure/process/reaper.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import type { Point } from '../model/ids.ts'
import { incumbentMetrics } from '../model/incumbent-metrics.ts'
import { brief } from '../propose/brief.ts'
import { type Asked, askCommand, briefFile } from '../propose/command.ts'
import { type CommandProposer, commandOf, missingAgent } from '../propose/presets.ts'
import type { Spec } from '../spec/schema.ts'
import type { Place } from './place.ts'

export interface Asking {
  who: string
  proposer: CommandProposer | undefined
  /** Of the backlog: what it is to carry out. */
  idea: BacklogIdea | null
  /** Where it is to look, where it has none and others are asked as well. */
  angle?: string | null
  /** Absolute, ours, and used by one asking at a time. */
  workDir: string
  /** As whom it runs, where that is not us. */
  owner?: Owner
  /** What it edits a copy of; the incumbent unless given. */
  base?: Point
}

/** One program, told what the campaign knows, with a copy of the best version to edit: the same wherever it is asked. */
export async function askProgram(
  { repository, env, clock }: Pick<Place, 'repository' | 'env' | 'clock'>,
  { who, proposer, idea, angle = null, workDir, owner, base }: Asking,
  { campaign, spec, signal }: { campaign: Campaign; spec: Spec; signal: AbortSignal },
): Promise<Asked> {
  const missing = proposer && (await missingAgent([proposer], env))
  if (missing) return { ok: false, reason: missing.what }
  const text = brief({ campaign, spec, incumbentMetrics: incumbentMetrics(campaign), idea, angle })
  const command = proposer && commandOf(proposer, { text, file: briefFile(workDir) })
  if (!proposer || command == null) return { ok: false, reason: `the spec has no proposer ${who}` }
  return askCommand({
    repo: repository,
    incumbent: base ?? campaign.incumbent,
    name: who,
    command,
    brief: text,
    timeoutSeconds: proposer.timeout_seconds,
    workDir,
    ...(owner === undefined ? {} : { owner }),
    env,
    signal,
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
  })
}
