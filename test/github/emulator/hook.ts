import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What GitHub refuses of a push, as a real hook: a GITHUB_TOKEN, or an App without `workflows`, may bring no commit that is new here and has other
 * workflow files than the one before it, as a merge of a branch that changed them (nor, with the file `no-workflows`,
 * a workflow file that its branch has not); nobody moves a protected branch (their names are lines of the file
 * `protected`), and rules hold (lines of `rules`: `update|optimize/*|what is wrong`).
 */
const HOOK = `#!/bin/sh
brought=
while read -r old new ref; do
  branch=\${ref#refs/heads/}
  if [ -f protected ] && grep -qxF "$branch" protected; then
    echo "error: GH006: Protected branch update failed for $ref."
    echo "- Changes must be made through a pull request."
    exit 1
  fi
  kind=update
  case $old in *[!0]*) ;; *) kind=creation ;; esac
  if [ -f rules ]; then
    broken=$(while IFS='|' read -r what glob message; do
      case "$branch" in $glob) [ "$what" = "$kind" ] && echo "- $message" ;; esac
    done < rules)
    if [ -n "$broken" ]; then
      echo "error: GH013: Repository rule violations found for $ref."
      echo "Review all repository rules at https://github.com/team/project/rules?ref=$ref"
      echo ""
      echo "$broken"
      exit 1
    fi
  fi
  case "$REMOTE_USER/$new" in
    actions/*[!0]*) ;;
    *) continue ;;
  esac
  refusal() {
    echo "refusing to allow a GitHub App to create or update workflow \\\`$1\\\` without \\\`workflows\\\` permission"
    exit 1
  }
  if [ -f no-workflows ]; then
    git ls-tree -r "$new" -- .github/workflows | while read -r mode type blob path; do
      [ "$(git ls-tree "$old" -- "$path" 2>/dev/null | cut -f1)" = "$mode $type $blob" ] || refusal "$path"
    done || exit 1
  fi
  brought="$brought $new"
done
[ -n "$brought" ] || exit 0
path=$(git log --full-history --diff-merges=first-parent --no-renames --diff-filter=d --format= --name-only \\
  $brought --not --all -- .github/workflows)
[ -z "$path" ] || refusal "$(echo "$path" | head -n 1)"
`

export function installHook(dir: string): void {
  mkdirSync(join(dir, 'hooks'))
  const file = join(dir, 'hooks', 'pre-receive')
  writeFileSync(file, HOOK)
  chmodSync(file, 0o755)
}
