import { requireCampaign } from '../engine/session.ts'
import { UserError } from '../errors.ts'
import { type CommandProposer, isPreset, findMissingAgent, PRESETS } from '../propose/presets.ts'
import { findNearestWord } from '../spec/suggest.ts'
import type { CommandContext } from './at-campaign.ts'
import type { Call } from './call.ts'
import type { Option } from './verb.ts'

export const AGENT: Option = {
  name: 'agent',
  value: 'name',
  many: true,
  summary: `ask this coding agent for ideas, in this run only: ${PRESETS.join(', ')}`,
}

const TIMEOUT_SECONDS = 3600

/** Who is asked besides the proposers of the spec; whoever is not installed is said before anything is spent. */
export async function selectAgentProposers(
  { given, around }: Call,
  scene: CommandContext,
): Promise<CommandProposer[]> {
  const guests = given.texts('agent').map(toAgentProposer)
  const { campaign, place } = scene
  const spec = campaign.started && !given.flag('fresh') ? (await requireCampaign(place)).spec : campaign.spec
  const missing = await findMissingAgent([...(spec?.propose ?? []), ...guests], around.env)
  if (missing !== null) throw new UserError(missing.what, { fix: missing.fix })
  return guests
}

function toAgentProposer(name: string): CommandProposer {
  if (isPreset(name)) return { use: 'command', preset: name, timeout_seconds: TIMEOUT_SECONDS }
  const near = findNearestWord(name, PRESETS)
  throw new UserError(`winnow knows no agent ${name}; it knows ${PRESETS.join(', ')}`, {
    fix: near === undefined ? 'write it as a command: in propose of the spec' : `did you mean ${near}?`,
  })
}
