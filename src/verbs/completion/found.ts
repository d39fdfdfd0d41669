/** What both shells find where the person is; names are told only if they are plain: a shell would obey the others. */
export const REVISIONS = [
  '_winnow_revisions() {',
  "  git for-each-ref --format='%(refname:short)' refs/heads refs/tags 2>/dev/null | _winnow_plain",
  '}',
]

export const CAMPAIGNS_BEGIN = [
  '_winnow_campaigns() {',
  '  local root file',
  '  root=$(git rev-parse --show-toplevel 2>/dev/null) || return 0',
]
