import { MOST_SCORES_BYTES, SCORES_ARTIFACT, SCORES_FILE } from '../../judge/handed-on.ts'
import type { JobFile } from '../../measure/handed-file.ts'
import type { OrderId } from '../../model/ids.ts'
import { getPartialArtifactName, getReportArtifactName } from '../../model/parcel.ts'
import { ANSWERS_ARTIFACT, ANSWERS_FILE, MOST_ANSWERS_BYTES } from '../../propose/answers-file.ts'
import type { RunArtifacts } from './run-artifacts.ts'

/** How a job ended, as `needs` of the settling job says. */
export interface EndedJob {
  /** As GitHub says: success, failure, cancelled; empty where it never started. */
  status: string
  /** Of the artifact that it uploaded, in hex; null where it uploaded none. */
  digest: string | null
}

/** What the jobs of a run came to, which its settling job takes in. */
export interface EndedRun {
  measured: ReadonlyMap<OrderId, EndedJob>
  /** Null where it had nothing to do. */
  proposed: EndedJob | null
  judged: EndedJob | null
}

/** Every name under which a job of this run may have uploaded something that counts. */
export function listArtifactNames({ measured }: EndedRun): string[] {
  const ofOrders = [...measured.keys()].flatMap(order => [
    getReportArtifactName(order),
    getPartialArtifactName(order),
  ])
  return [...ofOrders, ANSWERS_ARTIFACT, SCORES_ARTIFACT]
}

/** Null where the job had nothing to do. */
export async function fetchAnswers({ proposed }: EndedRun, artifacts: RunArtifacts): Promise<JobFile | null> {
  if (proposed === null) return null
  if (proposed.digest === null) return { ok: false, why: describeNothingLeft(proposed, 'answers') }
  const parcel = { file: ANSWERS_FILE, most: MOST_ANSWERS_BYTES, digest: proposed.digest }
  return artifacts.fetch(ANSWERS_ARTIFACT, parcel)
}

/** Null where the job had nothing to do. */
export async function fetchScores({ judged }: EndedRun, artifacts: RunArtifacts): Promise<JobFile | null> {
  if (judged === null) return null
  if (judged.digest === null) return { ok: false, why: describeNothingLeft(judged, 'scores') }
  const parcel = { file: SCORES_FILE, most: MOST_SCORES_BYTES, digest: judged.digest }
  return artifacts.fetch(SCORES_ARTIFACT, parcel)
}

function describeNothingLeft({ status }: EndedJob, what: string): string {
  return `its job ended (${status || 'not started'}) and left no ${what}`
}
