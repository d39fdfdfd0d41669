import { ForgeError } from '../errors.ts'
import type { ControllerContext } from './apply.ts'
import { listRefs } from './listed-refs.ts'

const CHANGE_CHECK_MS = 2_000
/** A measurement that takes hours is not disturbed every other second of them. */
const LONGEST_MS = 10_000

/**
 * Resolves when something that is under way here ends, or when somebody else moved a ref of the campaign. That
 * is found by one question to the remote; whoever wants to know what it means has to observe.
 */
export async function waitForChange(hands: ControllerContext, interrupt: AbortSignal): Promise<void> {
  const { runner, asking, place } = hands
  const busy = [runner, asking].filter(each => each.busy)
  if (busy.length === 0) return place.clock.sleep(CHANGE_CHECK_MS, interrupt)
  const over = new AbortController()
  const looking = lookUntilMoved(hands, AbortSignal.any([over.signal, interrupt]))
  try {
    await Promise.race([looking, ...busy.map(each => each.settled())])
  } finally {
    over.abort()
    await looking
  }
}

async function lookUntilMoved(hands: ControllerContext, over: AbortSignal): Promise<void> {
  for (let wait = CHANGE_CHECK_MS; !over.aborted; wait = Math.min(wait * 1.25, LONGEST_MS)) {
    await hands.place.clock.sleep(wait, over)
    if (!over.aborted && (await hasMoved(hands))) return
  }
}

/** What was found is what the next look begins with: it asks no second time. */
async function hasMoved({ place, memory }: ControllerContext): Promise<boolean> {
  const known = memory.refs
  const refs = await readRefsOrNull(place)
  if (refs === null) return false
  const moved = known?.size !== refs.size || [...refs].some(([ref, oid]) => known.get(ref) !== oid)
  if (!moved) return false
  memory.refs = refs
  memory.askedAt = place.clock.monotonic()
  return true
}

/** A remote that does not answer is no reason to give up what is being measured: it is asked again. */
async function readRefsOrNull(place: ControllerContext['place']) {
  try {
    return (await listRefs(place)).refs
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    place.progress.say(`the remote cannot be looked at meanwhile: ${error.message}`)
    return null
  }
}
