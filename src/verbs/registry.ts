import { amendVerb } from './amend.ts'
import { approveVerb } from './approve.ts'
import { archiveVerb } from './archive.ts'
import { auditVerb } from './audit.ts'
import { avoidVerb } from './avoid.ts'
import { checkVerb } from './check.ts'
import { compareVerb } from './compare.ts'
import { completionVerb } from './completion.ts'
import { decideVerb } from './decide.ts'
import { demoVerb } from './demo.ts'
import { doctorVerb } from './doctor.ts'
import { helpVerb } from './help.ts'
import { ideaVerb } from './idea.ts'
import { initVerb } from './init.ts'
import { logVerb } from './log.ts'
import { measureVerb } from './measure.ts'
import { noteVerb } from './note.ts'
import { pauseVerb } from './pause.ts'
import { pickVerb } from './pick.ts'
import { priorityVerb } from './priority.ts'
import { proposeVerb } from './propose.ts'
import { rebuildVerb } from './rebuild.ts'
import { recoverVerb } from './recover.ts'
import { replayVerb } from './replay.ts'
import { resultsVerb } from './results.ts'
import { resumeVerb } from './resume.ts'
import { retryVerb } from './retry.ts'

import { revertVerb } from './revert.ts'
import { runVerb } from './run.ts'
import { showVerb } from './show.ts'
import { statusVerb } from './status.ts'
import { stopVerb } from './stop.ts'
import { tickVerb } from './tick.ts'
import { tryVerb } from './try.ts'
import { uninstallVerb } from './uninstall.ts'
import type { Verb } from './verb.ts'
import { versionVerb } from './version.ts'

/**
 * The one list of verbs: the command line, its help, its page and shell completion are derived from it. Within a
 * group, people read them in this order: first what is done first.
 */
export const VERBS: readonly Verb[] = [
  initVerb,
  checkVerb,
  compareVerb,
  tryVerb,
  runVerb,
  demoVerb,
  statusVerb,
  showVerb,
  resultsVerb,
  logVerb,
  approveVerb,
  pauseVerb,
  stopVerb,
  tickVerb,
  proposeVerb,
  ideaVerb,
  measureVerb,
  decideVerb,
  avoidVerb,
  priorityVerb,
  retryVerb,
  noteVerb,
  amendVerb,
  revertVerb,
  pickVerb,
  resumeVerb,
  archiveVerb,
  auditVerb,
  replayVerb,
  rebuildVerb,
  recoverVerb,
  doctorVerb,
  completionVerb,
  uninstallVerb,
  helpVerb,
  versionVerb,
]
