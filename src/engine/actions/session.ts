import type { ForgeError } from '../../errors.ts'
import type { Workflows } from '../../forge/port.ts'
import type { HandedItems } from '../../judge/handed-on.ts'
import type { Campaign } from '../../model/campaign.ts'
import { openAskings } from '../../model/fold-asking.ts'
import type { Hands } from '../apply.ts'
import { askingElsewhere } from '../asking.ts'
import { campaignIdeas } from '../campaign-ideas.ts'
import type { Ideas } from '../ideas.ts'
import { emptyMemory } from '../memory.ts'
import type { Place } from '../place.ts'
import { answerReader } from '../taken-answers.ts'
import { tick, type TickResult } from '../tick.ts'
import { itemsToJudge, type JudgesHere, judgesReader } from './judges.ts'
import { actionsRunner, FIRST_ATTEMPT } from './runner.ts'
import { cancelUnwanted } from './unwanted-runs.ts'

/** What a job has to do with proposers and models: it takes answers in, or another job asks after it, or neither. */
export interface Asks extends JudgesHere {
  /** A job of the same run asks proposers after this one. */
  mayAsk: boolean
  /** The file in which such a job left its answers; null where none was to be asked. */
  answers: string | null
}

interface Wakeup extends Asks {
  heed?: NonNullable<Hands['heed']>
}

/**
 * One tick where runs are workflow runs. It holds a token, so it runs no program of anybody: proposers are asked in
 * jobs of their own.
 */
export async function tickOnActions(
  place: Place,
  workflows: Workflows,
  { heed, mayAsk, answers, mayJudge: follows, scores }: Wakeup,
): Promise<TickResult & { refusals: ForgeError[]; toJudge: HandedItems | null }> {
  // A job of another attempt could not know what the first one spent, nor hand anything over under the same name.
  const first = place.by.attempt === FIRST_ATTEMPT
  const mayJudge = follows && first
  const runner = actionsRunner(place, workflows)
  const memory = emptyMemory()
  const result = await tick({
    place,
    memory,
    runner,
    ideas: ideasWith(place, answers),
    asking: askingElsewhere(mayAsk && first ? 'elsewhere' : 'later'),
    judges: judgesReader(place, runner, { mayJudge, scores }),
    only: null,
    ...(heed === undefined ? {} : { heed }),
  })
  if (result.seen !== null) {
    const { campaign } = result.seen.world
    await cancelUnwanted(place, workflows, { underWay: await runner.underWay(), known: campaign })
  }
  const toJudge = mayJudge && result.seen ? itemsToJudge(place, result.seen.world.campaign, runner) : null
  return { ...result, refusals: [...memory.refusals.values()], toJudge }
}

function ideasWith(place: Place, file: string | null): Ideas {
  const ideas = campaignIdeas(place)
  if (file === null) return ideas
  const reader = answerReader(place, file)
  return {
    ...ideas,
    async find(scene) {
      const [found, { answers, unanswered }] = [await ideas.find(scene), await reader.of(scene.campaign)]
      return { ...found, answers: [...found.answers, ...answers], unanswered }
    },
  }
}

/** Whether the job that follows in this run has somebody to ask. */
export function asksInThisRun({ by }: Place, campaign: Campaign): boolean {
  return openAskings(campaign).some(({ run_id }) => run_id === by.run_id)
}
