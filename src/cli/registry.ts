import { amendVerb } from './amend.ts'
import { approveVerb } from './approve.ts'
import { anchorVerb, auditVerb, rebuildVerb, recoverVerb, replayVerb } from './audit.ts'
import { checkVerb } from './check.ts'
import { compareVerb } from './compare.ts'
import { completeVerb, completionVerb } from './completion.ts'
import { decideVerb } from './decide.ts'
import { demoVerb } from './demo.ts'
import { doctorVerb } from './doctor.ts'
import { helpVerb, versionVerb } from './command-line.ts'
import { exportVerb } from './export.ts'
import { ideaVerb } from './idea.ts'
import { importVerb } from './import.ts'
import { initVerb } from './init.ts'
import { inspectVerb, rollbackVerb } from './inspect.ts'
import { measureVerb } from './measure.ts'
import { avoidVerb, noteVerb } from './note.ts'
import { optimizeVerb } from './optimize.ts'
import { archiveVerb, pauseVerb, resumeVerb, stopVerb } from './pause.ts'
import { pickVerb } from './pick.ts'
import { priorityVerb, retryVerb, revertVerb } from './experiment-commands.ts'
import { proposeVerb } from './propose.ts'
import { runVerb } from './run.ts'
import { logVerb, resultsVerb, showVerb, statusVerb } from './status.ts'
import { tickVerb } from './tick.ts'
import { tryVerb } from './try.ts'
import { uninstallVerb } from './uninstall.ts'
import type { Verb } from './verb.ts'

/** Help, docs/commands.md and completion derive from this list, and help lists groups in this order. */
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
  inspectVerb,
  approveVerb,
  pauseVerb,
  stopVerb,
  tickVerb,
  proposeVerb,
  ideaVerb,
  importVerb,
  exportVerb,
  measureVerb,
  optimizeVerb,
  decideVerb,
  avoidVerb,
  priorityVerb,
  retryVerb,
  noteVerb,
  amendVerb,
  revertVerb,
  rollbackVerb,
  pickVerb,
  resumeVerb,
  archiveVerb,
  auditVerb,
  anchorVerb,
  replayVerb,
  rebuildVerb,
  recoverVerb,
  doctorVerb,
  completionVerb,
  completeVerb,
  uninstallVerb,
  helpVerb,
  versionVerb,
]
