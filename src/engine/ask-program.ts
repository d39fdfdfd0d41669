import type { Owner } from '../measure/process/reaper.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import type { Point } from '../model/ids.ts'
import { getIncumbentMetrics } from '../model/incumbent-metrics.ts'
import { renderBrief } from '../propose/brief.ts'
import { type AgentResult, askAgent, getBriefPath } from '../propose/command.ts'
import { type CommandProposer, buildAgentCommand, findMissingAgent } from '../propose/presets.ts'
import type { Spec } from '../spec/schema.ts'
import type { CampaignContext } from './place.ts'

export interface ProgramRequest {
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
  { repository, env, clock }: Pick<CampaignContext, 'repository' | 'env' | 'clock'>,
  { who, proposer, idea, angle = null, workDir, owner, base }: ProgramRequest,
  { campaign, spec, signal }: { campaign: Campaign; spec: Spec; signal: AbortSignal },
): Promise<AgentResult> {
  const missing = proposer && (await findMissingAgent([proposer], env))
  if (missing) return { ok: false, reason: missing.what }
  const text = renderBrief({ campaign, spec, incumbentMetrics: getIncumbentMetrics(campaign), idea, angle })
  const command = proposer && buildAgentCommand(proposer, { text, file: getBriefPath(workDir) })
  if (!proposer || command == null) return { ok: false, reason: `the spec has no proposer ${who}` }
  return askAgent({
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
