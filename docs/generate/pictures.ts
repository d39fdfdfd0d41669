import { readFileSync } from 'node:fs'
import { type Campaign, createEmptyCampaign } from '../../src/model/campaign.ts'
import { parseEvent } from '../../src/model/event.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import { fold } from '../../src/model/fold/fold.ts'
import { computeCampaignProgress } from '../../src/report/status.ts'
import { renderCampaignPullBody, renderCampaignPullTitle } from '../../src/report/campaign-pull-request.ts'
import { buildChartData, renderChart } from '../../src/report/charts.ts'
import { renderEndedComment, renderPullBody, renderPullTitle } from '../../src/report/pull-request.ts'

export const PICTURES = 'docs/images'
/** Frozen, so that the pictures change with what is said and not with what is planned; `npm run docs:images -- --seed` makes it anew. */
export const EVENTS = 'fixtures/pictured-campaign/events.jsonl'
const PAGE = 'https://github.com/ada/words'

function readCampaign(): Campaign {
  const lines = readFileSync(EVENTS, 'utf8').trimEnd().split('\n')
  return fold(
    createEmptyCampaign(),
    lines.map(line => parseEvent(JSON.parse(line))),
  )
}

function experimentOf({ experiments }: Campaign, id: string): Experiment {
  const found = experiments[id]
  if (found === undefined) throw new Error(`the pictured campaign has no ${id}`)
  return found
}

/** A pull request or a comment as GitHub shows it. */
function shown(title: string, body: string): string {
  return `# ${title}\n\n${body.trimEnd()}\n`
}

/** The Markdown of each picture and the chart in it, by path, from the functions that write them on GitHub. */
export function pictureSources(): Record<string, string> {
  const campaign = readCampaign()
  const ended = (id: string) => {
    const experiment = experimentOf(campaign, id)
    return shown(renderPullTitle(experiment), renderEndedComment(campaign, experiment, PAGE))
  }
  const waiting = experimentOf(campaign, 'exp-006')
  return {
    [`${PICTURES}/campaign.md`]: shown(
      renderCampaignPullTitle(campaign),
      renderCampaignPullBody(campaign, PAGE),
    ),
    [`${PICTURES}/kept.md`]: ended('exp-001'),
    [`${PICTURES}/no-gain.md`]: ended('exp-002'),
    [`${PICTURES}/broken.md`]: ended('exp-004'),
    [`${PICTURES}/waiting.md`]: shown(
      renderPullTitle(waiting),
      renderPullBody(campaign, waiting, { page: PAGE }),
    ),
    [`${PICTURES}/chart.svg`]: renderChart(
      campaign.name,
      buildChartData(campaign, computeCampaignProgress(campaign)),
    ),
  }
}
