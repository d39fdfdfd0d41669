import { campaign, type CampaignBuilder } from './a-campaign.ts'

/** A long campaign near its end: all but the last few experiments have ended, in every ordinary way. */
export function longCampaign(experiments: number, open = 10): CampaignBuilder {
  const built = campaign().withExperiments(experiments)
  for (let number = 1; number <= experiments - open; number++) {
    const experiment = `exp-${String(number).padStart(3, '0')}`
    const outcome = (['dropped', 'not_selected', 'refused', 'degenerate'] as const)[number % 4] ?? 'dropped'
    const ending = { experiment, outcome, reason: 'no gain', head: null, results: null }
    built.add({ kind: 'closed', cause: experiment, ...ending })
  }
  built.campaign.since_incumbent = 0
  built.campaign.ended = 0
  return built.ordered(...Object.keys(built.campaign.experiments).slice(-4))
}
