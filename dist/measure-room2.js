import{C as strictObject,b as number,w as string,x as object}from"./lib-zod.js";import{M as quoteShell,_ as isMissing,b as readStoredJson,g as hasErrorCode,h as copyFolder,v as isUnreachable,x as removeAll,y as listNames}from"./measure-room.js";import{a as UserError}from"./errors.js";import{D as isDirectory,g as encodeName,h as decodeName}from"./lib-debug.js";import{H as hashSha256,f as formatMachineFailure}from"./model-room.js";import{createHash}from"node:crypto";import{chmodSync,closeSync,constants,lstatSync,mkdirSync,openSync,readFileSync,readdirSync,readlinkSync,realpathSync,renameSync,rmSync,writeFileSync,writeSync}from"node:fs";import{dirname,isAbsolute,join}from"node:path";import{chmod,cp,lstat,mkdir,mkdtemp,readFile,readdir,rm,statfs}from"node:fs/promises";import{execFile,spawn}from"node:child_process";import{promisify}from"node:util";import{arch,constants as constants$1,cpus,hostname,platform,release,tmpdir,totalmem,uptime}from"node:os";import{setTimeout}from"node:timers/promises";const TYPE=61440n,LINK=40960n,PLAIN=32768n,FOLDER=16384n,EXECUTABLE=64n,OWNERS=448n,ENTERABLE=320n;function snapshotFiles(e,t){let n=mapStamps(e);return toSnapshot([...[...listFolders(t)].map(e=>({path:e,mode:`040000`,oid:``})),...t].map(e=>{let t=n.get(e.path);if(t===void 0)throw Error(`${e.path} was not laid out`);return{path:e.path,stamp:t,known:e,names:null}}))}var UncheckablePath=class extends Error{name=`UncheckablePath`;path;constructor(e,t){let n=e.length>80?`${e.slice(0,80)}…`:e;super(`${n} ${t}`),this.path=`${n}, which ${t}`}};function snapshotEverything(e,t,n,r){let i=new Map(t.map(e=>[e.path,e])),a=r?mapStamps(r):null,o=[],s=[`.`];for(let t=s.pop();t!==void 0;t=s.pop()){let r=listFolderNames(e,t);o.push({path:t,stamp:requireStamp(e,t),known:null,names:digestNames(r)});for(let c of r){let r=t===`.`?c:`${t}/${c}`;if(isTooDeep(e,r))throw new UncheckablePath(r,`is nested too deep to be inspected`);let l=a?.get(r)??requireStamp(e,r);(l.mode&TYPE)==FOLDER?s.push(r):o.push({path:r,stamp:l,known:i.get(r)??toSharedFile(e,r,l,n),names:null})}}return toSnapshot(o)}function findTamperedPath(e,t,n){for(let r of e.entries){let e=readStamp(t,r.path);if(e===null)return r.path;if(!isSame(e,r.stamp)){if(!isStillItself(r,e,t,n))return r.path;r.stamp=e}}return null}function findFirstDifference(e,t,n){for(let n of listFolders(t)){let t=readStamp(e,n);if(t===null||(t.mode&TYPE)!=FOLDER||(t.mode&OWNERS)!=OWNERS)return n}for(let r of t){let t=readStamp(e,r.path);if(t===null||!hasContent(r,t,e,n)||(t.mode&TYPE)==PLAIN&&(t.mode&128n)==0n)return r.path}return null}function toSnapshot(e){return{entries:e,newest:e.reduce((e,{stamp:t})=>t.ctimeNs>e?t.ctimeNs:e,0n)}}function mapStamps({entries:e}){return new Map(e.map(({path:e,stamp:t})=>[e,t]))}function requireStamp(e,t){let n=readStamp(e,t);if(n===null)throw new UncheckablePath(t,`cannot be inspected`);return n}const MOST_BYTES=(process.platform===`darwin`?1024:4096)-64;function isTooDeep(e,t){return(e.length+t.length)*3<=MOST_BYTES?!1:Buffer.byteLength(e)+Buffer.byteLength(t)>MOST_BYTES}function isSame(e,t){return e.ctimeNs===t.ctimeNs&&e.size===t.size&&e.ino===t.ino&&e.mode===t.mode}function isSameFile(e,t){return isSame(e.stamp,t.stamp)?!0:e.known!==null&&e.known.oid===t.known?.oid&&e.known.mode===t.known.mode}function toSharedFile(e,t,n,r){if(n.nlink<2n||(n.mode&TYPE)!=PLAIN)return null;let i=(n.mode&EXECUTABLE)==0n?`100644`:`100755`,a=readIfReachable(()=>computeContentId(toDiskPath(e,t),!1,r));return a===null?null:{path:t,mode:i,oid:a}}function isStillItself(e,t,n,r){return e.known===null?e.names===null||t.mode!==e.stamp.mode||t.ino!==e.stamp.ino?!1:digestNames(listFolderNames(n,e.path))===e.names:hasContent(e.known,t,n,r)}function digestNames(e){let t=createHash(`sha1`);for(let n of e)t.update(n).update(`/`);return t.digest(`hex`)}function hasContent(e,t,n,r){let i=t.mode&TYPE;return e.mode===`160000`||e.mode===`040000`?i===FOLDER&&(t.mode&ENTERABLE)==ENTERABLE:i!==(BigInt(`0o${e.mode}`)&TYPE)||i!==LINK&&(t.mode&EXECUTABLE)!=(BigInt(`0o${e.mode}`)&EXECUTABLE)||i!==LINK&&(t.mode&256n)==0n?!1:readIfReachable(()=>computeContentId(toDiskPath(n,e.path),i===LINK,r))===e.oid}function readStamp(e,t){return readIfReachable(()=>lstatSync(toDiskPath(e,t),{bigint:!0,throwIfNoEntry:!1}))??null}function readIfReachable(e){try{return e()}catch(e){if(isUnreachable(e))return null;throw e}}function listFolderNames(e,t){let n=toDiskPath(e,t),r=()=>readdirSync(n,{encoding:`buffer`}).map(decodeName).toSorted(),i=readIfReachable(r);if(i!==null)return i;let a=readIfReachable(()=>(chmodSync(n,493),r()));if(a===null)throw new UncheckablePath(t,`cannot be listed`);return a}function listFolders(e){let t=/* @__PURE__ */ new Set;for(let{path:n}of e)for(let e=n.lastIndexOf(`/`);e>0&&!t.has(n.slice(0,e));e=n.lastIndexOf(`/`,e-1))t.add(n.slice(0,e));return t}const NOT_UTF8=/[\u{DC80}-\u{DCFF}]/u;function toDiskPath(e,t){let n=`${e}/${t}`;return NOT_UTF8.test(t)?Buffer.concat([Buffer.from(`${e}/`),encodeName(t)]):n}function computeContentId(e,t,n){let r=t?readlinkSync(e,{encoding:`buffer`}):readFileSync(e);return createHash(n).update(`blob ${r.length}\0`).update(r).digest(`hex`)}function getHoldoutDir(e){return join(e,`holdout`)}function getSidesDir({order:e,workDir:t}){return e.stop.rule===`holdout`?getHoldoutDir(t):t}async function findHoldoutDirectory({order:e,env:t}){let{stop:n}=e;if(n.rule!==`holdout`||n.source===null||!(`environment`in n.source))return null;let r=n.source.environment,i=t[r]??``;if(i!==``&&isDirectory(i))return i;let a=i===``?`${r} is not set`:`${r} names ${i}, which is no directory`;throw new UserError(`the holdout cannot be found: ${a}`,{place:{path:`measurement.holdout.source`},fix:`set ${r} to the holdout's directory on the measuring machine`})}async function layOutHoldout(e){let{input:t,holdoutDirectory:n}=e,{stop:r}=t.order;if(r.rule!==`holdout`||r.source===null)return null;let i=join(getHoldoutDir(t.workDir),`data`);return await removeAll(i),await mkdir(i,{recursive:!0}),`tree`in r.source?await t.repository.materialize(r.source.tree,i):n!==null&&await cp(n,i,{recursive:!0,dereference:!0,mode:constants.COPYFILE_FICLONE}),await makeReadOnly(i),{dir:i,snapshot:snapshotEverything(i,[],t.repository.objectFormat)}}async function makeReadOnly(e){let t=await lstat(e);if(!t.isSymbolicLink()){if(!t.isDirectory())return chmod(e,292|t.mode&73);for(let t of await readdir(e))await makeReadOnly(join(e,t));await chmod(e,365)}}function readMachineFingerprint(e){let t=cpus(),n=[e.ImageOS,e.ImageVersion].filter(e=>e!==void 0&&e!==``);return{boot_id:getBootId(),hostname_sha256:hashSha256(hostname()),os:`${platform()} ${arch()}`,kernel:release(),cpu_model:t[0]?.model.trim()??`unknown`,cores:Math.max(1,t.length),memory_mb:Math.max(1,Math.round(totalmem()/2**20)),image:n.length===0?null:n.join(` `),node:process.version}}let known=null;function getBootId(){return known??=process.platform===`linux`?readFileSync(`/proc/sys/kernel/random/boot_id`,`utf8`).trim():computeBootId(),known}function computeBootId(){return hashSha256(`${hostname()} ${Math.round((Date.now()/1e3-uptime())/60)}`)}var MachineFailed=class extends Error{name=`MachineFailed`};function detectMachineFailure(e,t,{exitCode:n,signal:r,timedOut:i}){let a=!i&&(r===`SIGKILL`||n===137),o=n=>(t[n]??0)>(e[n]??t[n]??0);return o(`outOfMemory`)||a&&o(`outOfMemoryAnywhere`)?`the kernel ended a process for lack of memory`:o(`noProcess`)?`no more processes could be started here (fork: EAGAIN)`:null}const MACHINE_ERRORS={EAGAIN:`a process could not be started`,ENOMEM:`there was no memory left`,EMFILE:`too many files were open`,ENFILE:`too many files were open`,ENOSPC:`the disk is full`,EDQUOT:`the disk quota is used up`};function describeRunnerError(e){if(!(e instanceof Error))return String(e);if(e instanceof MachineFailed)return formatMachineFailure(e.message);let t=`code`in e&&typeof e.code==`string`?e.code:``,n=MACHINE_ERRORS[t];return n===void 0?e.message:formatMachineFailure(`${n} (${e.message})`)}const CGROUPS=`/sys/fs/cgroup`;function readKernelCounts(){let e=readKernelFile(`/proc/self/cgroup`)??``,t=/^0::(.*)$/m.exec(e)?.[1]??`/`,n=t=>RegExp(`^\\d+:(?:[^:]*,)?${t}(?:,[^:]*)?:(.*)$`,`m`).exec(e)?.[1],r=(e,r,i)=>readKernelFile(join(CGROUPS,t,e))??readKernelFile(join(CGROUPS,r,n(r)??`/`,i));return{outOfMemory:parseKernelCount(r(`memory.events`,`memory`,`memory.oom_control`),`oom_kill`),outOfMemoryAnywhere:parseKernelCount(readKernelFile(`/proc/vmstat`),`oom_kill`),noProcess:parseKernelCount(r(`pids.events`,`pids`,`pids.events`),`max`)}}function parseKernelCount(e,t){let n=RegExp(`^${t} (\\d+)$`,`m`).exec(e??``);return n===null?null:Number(n[1])}function readKernelFile(e){try{return readFileSync(e,`utf8`)}catch(e){if(isMissing(e)||isUnreachable(e)||hasErrorCode(e,`EOPNOTSUPP`,`ENODEV`))return null;throw e}}var ClockSetBack=class extends MachineFailed{name=`ClockSetBack`;constructor(e){super(`the clock was set back: files of a side are ${e} s newer than now`)}},DiskFull=class extends MachineFailed{name=`DiskFull`;constructor(e,t){super(`ENOSPC: no ${e} is left in the measuring directory ${t}`)}};async function refuseFull(e){let t=findShortage(await statfs(e),process.getuid?.()===0);if(t!==null)throw new DiskFull(t,e)}function findShortage(e,t){let{bsize:n,blocks:r,bfree:i,bavail:a,files:o,ffree:s}=e;return r>0&&(t?i:a)*n<65536?`space`:o>0&&s===0?`inode`:null}const CLAIM=/^running(?:-\d+)?\.json$/,processId=strictObject({pid:number().int().positive(),started:string()}),running=strictObject({boot_id:string(),owner:processId,supervisor:processId.nullable()});async function claimWorkDir(e){let t=getClaimPath(e),n=readClaim(t),r=await getOwnProcess();await writeClaim(e);let i=listClaims(e).filter(e=>e!==t);for(let n of i)await requireDead(e,t,readClaim(n));let a=0;n!==null&&n.owner.started!==r.started&&(a+=await endClaimed(e,n));for(let t of i){let n=readClaim(t);n!==null&&(a+=await endClaimed(e,n)),rmSync(t,{force:!0})}return a}async function requireDead(e,t,n){if(n!==null&&n.boot_id===getBootId()&&await isAlive(n.owner))throw rmSync(t,{force:!0}),new UserError(`${e} is in use by process ${n.owner.pid}`,{fix:`wait for it, or end it; two measurements in one directory would disturb each other`})}async function noteSupervisor(e,t){let n=await formatClaim(await findProcess(t)),r=openSync(getClaimPath(e),`r+`);try{writeSync(r,n,0)}finally{closeSync(r)}}async function releaseWorkDir(e){rmSync(getClaimPath(e),{force:!0})}async function endLeftovers(e){if(listClaims(e).length===0||await isOurs(e))return 0;let t=await claimWorkDir(e);return await releaseWorkDir(e),t}async function isOurs(e){let t=readClaim(getClaimPath(e));return t?.boot_id===getBootId()&&t.owner.started===(await getOwnProcess()).started}function getClaimPath(e){return join(e,`running-${process.pid}.json`)}function listClaims(e){return listNames(e).filter(e=>CLAIM.test(e)).map(t=>join(e,t))}async function endClaimed(e,{boot_id:t,supervisor:n}){return t===getBootId()?endMarked(e,n!==null&&await isAlive(n)?[n.pid]:[]):0}async function endMarked(e,t=[]){let n=new Set(t),r=await listProcesses();for(let{pid:t}of r)t!==process.pid&&await hasMark(t,e)&&n.add(t);let i=findDescendants(r,n);for(let e of i)endProcess(e.pid,`SIGKILL`);return i.length}async function hasMark(e,t){if(process.platform!==`linux`)return!1;try{let n=await readFile(`/proc/${e}/environ`,`latin1`),r=[t,getHoldoutDir(t)].map(e=>`WINNOW_OUT_DIR=${join(e,`at`,`out`)}`);return n.split(`\0`).some(e=>r.includes(e))}catch{return!1}}async function isAlive({pid:e,started:t}){return(await findProcess(e))?.started===t}let self=null;async function getOwnProcess(){return self??={pid:process.pid,started:(await findProcess(process.pid))?.started??``},self}async function writeClaim(e){let t=getClaimPath(e);writeFileSync(`${t}.part`,await formatClaim(null)),renameSync(`${t}.part`,t)}async function formatClaim(e){let t={boot_id:getBootId(),owner:await getOwnProcess(),supervisor:e===null?null:{pid:e.pid,started:e.started}};return JSON.stringify(t).padEnd(320)}function readClaim(e){return running.safeParse(readStoredJson(e)).data??null}const run$1=promisify(execFile),STAT=/^(\d+) \(.*\) (\S)(.*)$/s;async function listProcesses(){return process.platform===`linux`?readdirSync(`/proc`).flatMap(e=>/^\d+$/.test(e)?readEntry(Number(e))??[]:[]):listProcessesWithPs()}async function findProcess(e){return process.platform===`linux`?readEntry(e):(await listProcessesWithPs()).find(t=>t.pid===e)??null}function findDescendants(e,t){let n=new Set(t),r=-1;for(;r!==n.size;){r=n.size;for(let t of e)n.has(t.ppid)&&n.add(t.pid)}return e.filter(e=>n.has(e.pid))}function endProcess(e,t){try{process.kill(e,t)}catch(e){if(!hasErrorCode(e,`ESRCH`))throw e}}function readEntry(e){let t;try{t=readFileSync(`/proc/${e}/stat`,`latin1`)}catch{return null}let[,,n=`X`,r=``]=STAT.exec(t)??[];if(n===`Z`||n===`X`)return null;let i=r.trim().split(` `);return{pid:e,ppid:Number(i[0]),pgid:Number(i[1]),started:i[18]??``}}async function listProcessesWithPs(){let{stdout:e}=await run$1(`ps`,[`-A`,`-o`,`pid=,ppid=,pgid=,stat=,lstart=`]);return e.split(`
`).flatMap(e=>{let[,t,n,r,i=`Z`,a=``]=/^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(e)??[];return t===void 0||i.startsWith(`Z`)?[]:[{pid:Number(t),ppid:Number(n),pgid:Number(r),started:a}]})}const SIDES_DIR=`/var/lib/winnow`,CLOSED_DIR=join(SIDES_DIR,`closed`),EACH=`for n in ${Array.from({length:6},(e,t)=>t+1).join(` `)}`,MAKE_USERS=`${EACH}; do useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin winnow-$n; done`,REMOVE_USERS=`${EACH}; do userdel winnow-$n; done`;function listSideUsers(){return process.platform===`linux`?parseOwners(readFileSync(`/etc/passwd`,`utf8`)):{what:`separate users for sides are not supported on ${process.platform}`,fix:`measure on Linux, or use isolation: none`}}function findSideUsers(){let e=listSideUsers();return`what`in e?e:process.getuid?.()===0?checkHardLinks()??{dir:`/var/lib/winnow`,owners:e}:{what:`only root can run code as other users`,fix:`run winnow as root, or use isolation: none`}}function requireSideUsers(){let e=findSideUsers();if(`owners`in e)return e;throw toMissingUsersError(e)}function toMissingUsersError({what:e,fix:t}){return new UserError(`measurement.isolation uid: ${e}`,{place:{path:`measurement.isolation`},fix:t})}function parseOwners(e){let t=e.split(`
`).flatMap(e=>{let[t=``,,n,r]=e.split(`:`);return n===void 0||r===void 0?[]:[{name:t,uid:Number(n),gid:Number(r)}]}),n=[];for(let e=1;e<=6;e++){let r=`winnow-${e}`,i=t.find(e=>e.name===r);if(i===void 0)return{what:`there is no user ${r}`,fix:`create them as root: ${MAKE_USERS}`};let a=t.find(e=>e.uid===i.uid&&e.name!==r)?.name;if(!isPlain(i.uid)||!isPlain(i.gid)||a!==void 0){let e=a===void 0?`which is not a plain user`:`which is also ${a}`;return{what:`${r} has the number ${i.uid}, ${e}`,fix:`userdel ${r}, and create it again`}}n.push({uid:i.uid,gid:i.gid})}return n}function isPlain(e){return Number.isSafeInteger(e)&&e>0&&e<2**32-2}function checkHardLinks(){return readLinkProtection()===`1`?null:{what:`the kernel lets users hard-link files of other users`,fix:`sysctl -w fs.protected_hardlinks=1, as root`}}function readLinkProtection(){try{return readFileSync(`/proc/sys/fs/protected_hardlinks`,`utf8`).trim()}catch(e){if(isMissing(e))return``;throw e}}function requireRootOwned(e){let t=lstatSync(e),{uid:n,mode:r}=t;if(!t.isDirectory()||n!==process.getuid?.()||r&18)throw new UserError(`other users can write to ${e}, where sides with separate users are measured`,{place:{file:e},fix:`give it to root with mode 0711, or remove it`})}const run=promisify(execFile),COPYING=[`-RP`,`--preserve=links`,`--reflink=auto`];async function changeOwner(e,{uid:t,gid:n}){await run(`chown`,[`-hR`,`${t}:${n}`,`--`,e])}async function copyForUser(e,{from:t,room:n,to:r}){await removeAll(n),mkdirSync(n,{mode:448});let i=join(n,`copy`);if(isFolder(t)?await copyFolder({from:t,to:i,options:COPYING,what:`what it left in its out directory for the scorer`}):mkdirSync(i),!isFolder(i))throw Error(`${t} was replaced while it was copied`);chmodSync(i,448),await run(`chmod`,[`-R`,`u+rwX,go-rwx,u-s,g-s`,`--`,i]),await changeOwner(i,e),renameSync(i,r),await removeAll(n)}function isFolder(e){return lstatSync(e,{throwIfNoEntry:!1})?.isDirectory()===!0}const OPEN_TO_ALL=[`/tmp`,`/var/tmp`,`/dev/shm`];async function clearSharedFolders({uid:e}){for(let t of OPEN_TO_ALL)for(let n of listRawNames(t)){let r=Buffer.concat([Buffer.from(`${t}/`),n]);lstatSync(r,{throwIfNoEntry:!1})?.uid===e&&await removeNamed(r,e)}}function listRawNames(e){try{return readdirSync(e,{encoding:`buffer`})}catch(e){if(isMissing(e))return[];throw e}}async function removeNamed(e,t){try{await removeAll(e)}catch(n){let r=n instanceof Error?n.message:String(n);throw Error(`what user ${t} of a side left cannot be removed: ${e.toString()}: ${r}`)}}var UnfitMachine=class extends UserError{fix;constructor(e,t){super(e,{place:{path:`measurement.isolation`}}),this.fix=t}};async function withDeadline(e,t,n){let r=(n.graceSeconds??5)*1e3,i=new AbortController,a={timedOut:!1},o=(async()=>{let e=await sleepOrCancel(n.timeoutSeconds,n.signal,i.signal);a.timedOut=!e,await t.term(),await setTimeout(e?Math.min(r,500):r,void 0,{signal:i.signal}),await t.kill(),await setTimeout(15e3,void 0,{signal:i.signal}),t.destroy()})().catch(e=>{if(!i.signal.aborted)throw e});try{return{value:await e,timedOut:a.timedOut}}finally{i.abort(),await o}}async function sleepOrCancel(e,t,n){if(t.aborted)return!0;try{return await setTimeout(Math.min(e*1e3,2**31-1),void 0,{signal:AbortSignal.any([t,n])}),!1}catch(e){if(n.aborted||!t.aborted)throw e;return!0}}function collectOutput(e){let t={stdout:``,stderr:``};return e.stdout?.setEncoding(`utf8`).on(`data`,e=>t.stdout+=e),e.stderr?.setEncoding(`utf8`).on(`data`,e=>t.stderr+=e),e.stdin?.on(`error`,()=>e.stdin?.destroy()),new Promise((n,r)=>{e.once(`error`,r),e.once(`close`,(e,r)=>n({...t,how:r??`exit ${e}`}))})}var SupervisorLost=class extends Error{name=`SupervisorLost`;constructor(e){super(`the process supervisor ended (${e.how}) before the harness did: ${e.stderr.trim()}`)}};const NAMES=new Map(Object.entries(constants$1.signals).map(([e,t])=>[t,e]));function readStatus(e){let t=e&127;return t===0?{exitCode:e>>8&255,signal:null}:{exitCode:null,signal:NAMES.get(t)??`signal ${t}`}}function lowerPriority(e){let t=quoteShell(e);return`command -v nice >/dev/null 2>&1 || exec /bin/sh -c ${t}\nexec nice -n 10 /bin/sh -c ${t}`}const REAPER_SCRIPT=String.raw`
use strict;
my ($mode, $arch, $parent, $uid, $gid) = @ARGV;
my %nr = $arch eq 'arm64'
  ? (prctl => 167, unshare => 97, mount => 40, wait4 => 260, signalfd4 => 74, sigprocmask => 135, kill => 129,
     clock => 113, setsid => 157, setresuid => 147, setresgid => 149, setgroups => 159, prlimit => 261)
  : (prctl => 157, unshare => 272, mount => 165, wait4 => 61, signalfd4 => 289, sigprocmask => 14, kill => 62,
     clock => 228, setsid => 112, setresuid => 117, setresgid => 119, setgroups => 116, prlimit => 302);
sub call { my $name = shift; my $got = syscall($nr{$name}, @_); die "$name: $!\n" if $got == -1; $got }
sub now { my $at = "\0" x 16; call('clock', 1, $at); my ($s, $n) = unpack 'qq', $at; $s * 1e9 + $n }
sub put { my ($path, $text) = @_; open my $to, '>', $path or die "$path: $!\n";
  syswrite($to, $text) == length $text or die "$path: $!\n"; close $to or die "$path: $!\n" }
sub take { my $size = shift; my $text = '';
  while (length $text < $size) { sysread(STDIN, $text, $size - length $text, length $text) or exit 0 }
  $text }
# Skips a command that came after its launch had ended.
sub header { my $digit; do { $digit = take(1) } while $digit =~ /[tk]/; $digit . take(7) }

my ($command, $cwd, $out, $err, $most, @env);
my ($main, %own, $status, $start, $end) = (0);
my ($cpu, $rss, $survivors) = (0, 0, 0);

sub identity { my $map = shift; open my $from, '<', "/proc/self/$map" or die "$map: $!\n";
  join '', map { my ($inside, undef, $count) = split; "$inside $inside $count\n" } <$from> }

# As root, every id maps to itself. Only a process outside the new namespace may write such a map.
sub enter_namespaces {
  call('prctl', 1, 9, 0, 0, 0);
  exit 1 if getppid != $parent;
  my $flags = 0x10000000 | 0x20000000 | 0x20000;
  if ($> == 0) {
    my %map = map { $_ => identity($_) } 'uid_map', 'gid_map';
    pipe my $ready, my $tell or die "pipe: $!\n";
    my $self = $$;
    my $mapper = fork;
    die "fork: $!\n" unless defined $mapper;
    if ($mapper == 0) {
      close $tell;
      sysread $ready, my $go, 1 or exit 1;
      put("/proc/$self/$_", $map{$_}) for 'uid_map', 'gid_map';
      exit 0;
    }
    close $ready;
    call('unshare', $flags);
    syswrite $tell, 'x';
    waitpid $mapper, 0;
    die "user namespace: no map\n" if $?;
  } else {
    my ($user, $group) = ($>, (split ' ', $))[0]);
    call('unshare', $flags);
    put('/proc/self/setgroups', 'deny');
    put('/proc/self/uid_map', "$user $user 1");
    put('/proc/self/gid_map', "$group $group 1");
  }
  call('prctl', 1, 9, 0, 0, 0);
  my $init = fork;
  die "fork: $!\n" unless defined $init;
  if ($init) { close STDIN; close STDOUT; waitpid $init, 0; exit($? ? 1 : 0) }
  call('prctl', 1, 9, 0, 0, 0);
  # Mounts an own /proc if the host allows it: tools that look themselves up by pid need a matching one.
  my ($none, $root, $type, $proc) = ('none', '/', 'proc', '/proc');
  syscall($nr{mount}, $none, $root, $none, 0x4000 | 0x40000, 0) == 0
    and syscall($nr{mount}, $type, $proc, $type, 2 | 4 | 8, 0);
}

# Memory and files that another side could find. Where the side itself lies below such a folder, it stays shared.
sub hide_shared_folders {
  my ($none, $tmpfs, $shm, $mode) = ('none', 'tmpfs', '/dev/shm', 'mode=1777');
  my $places = join "\0", $cwd, $out, $err, map { (split /=/, $_, 2)[1] } @env;
  syscall($nr{mount}, $tmpfs, $shm, $tmpfs, 2 | 4, $mode) unless $places =~ m{/dev/shm\b};
  my ($own) = map { /^TMPDIR=(.+)/s ? $1 : () } @env;
  for my $tmp ('/tmp', '/var/tmp') {
    my $target = $tmp;
    syscall($nr{mount}, $own, $target, $none, 0x1000, 0) if defined $own && $places !~ m{(?:^|[\0:])$tmp(?:[/\0:]|$)};
  }
}

# The kernel counts the processes of a user. In a user namespace it counts those of the namespace, since Linux 5.14.
sub limit_processes {
  return unless $most;
  if ($mode ne 'uid') {
    open my $from, '<', '/proc/sys/kernel/osrelease' or return;
    my ($major, $minor) = <$from> =~ /^(\d+)\.(\d+)/ or return;
    return if $mode ne 'pid-namespace' || $> == 0 || $major < 5 || ($major == 5 && $minor < 14);
  }
  my $now = "\0" x 16;
  call('prlimit', 0, 6, 0, $now);
  my (undef, $hard) = unpack 'QQ', $now;
  my $limit = pack 'QQ', ($most < $hard ? $most + 0 : $hard) x 2;
  call('prlimit', 0, 6, $limit, 0);
}

# If memory runs out, the kernel ends these processes, and not winnow or what else runs here.
sub go_first { open my $to, '>', '/proc/self/oom_score_adj' or return; syswrite $to, '1000' }

# From here on setuid and setgid bits have no effect.
sub drop {
  call('prctl', 38, 1, 0, 0, 0);
  call('setgroups', 0, 0); call('setresgid', ($gid + 0) x 3); call('setresuid', ($uid + 0) x 3);
  die "still uid $>\n" if $uid == 0 || $< != $uid || $> != $uid }

sub descendants {
  my %of;
  opendir my $proc, '/proc' or die "/proc: $!\n";
  for my $pid (grep { /^\d+$/ } readdir $proc) {
    open my $stat, '<', "/proc/$pid/stat" or next;
    my $line = <$stat>;
    push @{ $of{$1} }, $pid if defined $line && $line =~ /^.*\) \S (\d+)/s;
  }
  my @found = @{ $of{$$} || [] };
  for (my $at = 0; $at < @found; $at++) { push @found, @{ $of{ $found[$at] } || [] } }
  grep { !$own{$_} } @found;
}

sub kill_all { my $sig = shift;
  if ($mode eq 'pid-namespace') { syscall($nr{kill}, -1, $sig); return }
  if ($mode eq 'subreaper') { syscall($nr{kill}, $_ + 0, $sig) for descendants(); return }
  my $killer = fork;
  die "fork: $!\n" unless defined $killer;
  if ($killer == 0) { drop(); syscall($nr{kill}, -1, $sig); exit 0 }
  $own{$killer} = 1;
  waitpid $killer, 0;
  delete $own{$killer};
}

# Finds processes of that user that are not descendants. kill cannot: its answer is the same if all refuse.
sub strangers { return 0 if $mode ne 'uid';
  for my $status (glob '/proc/[0-9]*/status') {
    open my $from, '<', $status or next;
    local $/;
    my $text = <$from>;
    return 1 if defined $text && $text !~ /^State:\s*[ZX]/m && $text =~ /^Uid:.*\b$uid\b/m;
  }
  0 }

sub reap {
  my ($code, $usage) = (pack('i', 0), "\0" x 144);
  my $pid = syscall($nr{wait4}, -1, $code, 1, $usage);
  return $pid if $pid <= 0;
  my ($us, $uu, $ss, $su, $max) = unpack 'q5', $usage;
  $cpu += ($us + $ss) * 1e6 + $uu + $su;
  $rss = $max if $max > $rss;
  ($end, $status) = (now(), unpack 'i', $code) if $pid == $main;
  $pid;
}

sub finish {
  my $until = now() + 10e9;
  for (;;) {
    kill_all(9);
    my $pid;
    1 while ($pid = reap()) > 0;
    return if $pid < 0 && !strangers();
    if (now() > $until) { $survivors = 1; return }
    select undef, undef, undef, 0.001;
  }
}

sub become_harness {
  my $none = "\0" x 8;
  call('sigprocmask', 2, $none, 0, 8);
  call('setsid');
  hide_shared_folders() if $mode eq 'pid-namespace';
  limit_processes();
  go_first();
  drop() if $mode eq 'uid';
  open STDIN, '<', '/dev/null' or die "/dev/null: $!\n";
  open STDOUT, '>', $out or die "$out: $!\n";
  open STDERR, '>', $err or die "$err: $!\n";
  chdir $cwd or die "$cwd: $!\n";
  %ENV = map { split /=/, $_, 2 } @env;
  exec { '/bin/sh' } 'sh', '-c', $command;
}

sub prepare {
  call('prctl', 4, 1, 0, 0, 0);
  enter_namespaces() if $mode eq 'pid-namespace';
  # Shared memory and message queues of its own. Where the machine refuses, they stay shared.
  syscall($nr{unshare}, 0x8000000) if $mode eq 'pid-namespace' || $mode eq 'uid';
  call('prctl', 36, 1, 0, 0, 0);
  call('prctl', 4, 0, 0, 0, 0);
}

sub work {
  ($command, $cwd, $out, $err, $most, @env) = split /\0/, shift, -1;
  my $children = pack 'Q', 1 << 16;
  call('sigprocmask', 0, $children, 0, 8);
  my $news = call('signalfd4', -1, $children, 8, 0x80000);
  open my $signals, '<&=', $news or die "signalfd: $!\n";

  $start = now();
  $main = fork;
  die "fork: $!\n" unless defined $main;
  if ($main == 0) { eval { become_harness() }; print STDERR $@ || "/bin/sh: $!\n"; exit 127 }

  my $open = '';
  vec($open, 0, 1) = 1;
  vec($open, fileno $signals, 1) = 1;
  my ($asked, $left) = (0, 1);
  # After TERM, waits for all processes of the tree, also if the first one ends before the others.
  until (defined $status && !($asked && $left)) {
    my $ready = $open;
    select($ready, undef, undef, undef) > 0 or next;
    if (vec $ready, fileno $signals, 1) { sysread $signals, my $info, 128; my $pid; 1 while ($pid = reap()) > 0; $left = $pid == 0 }
    if (vec $ready, 0, 1) {
      my $got = sysread STDIN, my $letters, 64;
      unless ($got) { finish(); exit 1 }
      $asked = 1;
      kill_all($_ eq 'k' ? 9 : 15) for split //, $letters;
    }
  }
  finish();
  syswrite STDOUT, sprintf qq({"status":%d,"wall_ns":%.0f,"cpu_us":%.0f,"max_rss_kb":%d,"survivors":%d}\n),
    $status, $end - $start, $cpu, $rss, $survivors;
}

call('prctl', 4, 0, 0, 0, 0);
exit 1 if getppid != $parent;
$parent = $$;
my ($worker, $to, $seen);
sub mounts { open my $from, '<', '/proc/self/mountinfo' or return now(); local $/; <$from> }

# Reports a failure here to the next launch, and does not retry before it.
sub begin {
  pipe my $from, $to or die "pipe: $!\n";
  $seen = mounts();
  $worker = fork;
  die "fork: $!\n" unless defined $worker;
  return if $worker;
  close $to;
  my $ready = eval { prepare(); 1 };
  my $why = $@;
  my $launch = do { local $/; <$from> };
  exit 1 unless length $launch;
  exit 0 if $ready && eval { work($launch); 1 };
  $why = $@ if $ready;
  chomp $why;
  syswrite STDOUT, "lost $why\n";
  exit 1;
}

sub end { close $to; waitpid $worker, 0; undef $worker; $? }

for (;;) {
  my $launch = take(header() + 0);
  end() if $worker && $seen ne mounts();
  begin() unless $worker;
  { local $SIG{PIPE} = 'IGNORE'; syswrite $to, $launch }
  my $how = end();
  syswrite STDOUT, "end $how\n";
  begin() if $how == 0;
}
`,record=object({status:number().int(),wall_ns:number().nonnegative(),cpu_us:number().nonnegative(),max_rss_kb:number().nonnegative(),survivors:number().int()});function createReaper(e,t=null){let n=[];function r(){for(let e=n.pop();e!==void 0;e=n.pop())if(e.alive)return e;return new PerlHost(buildHostArguments(e,t))}return{strategy:e,async run(t,i){let a=r();a.pid!==void 0&&await i?.(a.pid);let{value:o,timedOut:s}=await withDeadline(a.run(encodeLaunch(t)),createHostTerminator(a),t);return a.alive&&n.push(a),t.signal.throwIfAborted(),{...parseEnded(o,e),timedOut:s}}}}function buildHostArguments(e,t){let n=[`-e`,REAPER_SCRIPT,e,process.arch,String(process.pid)];return t===null?n:[...n,String(t.uid),String(t.gid)]}function encodeLaunch(e){let t=Object.entries(e.env).map(([e,t])=>`${e}=${t}`),{command:n,cwd:r,stdout:i,stderr:a,maxProcesses:o=0}=e,s=[n,r,i,a,String(o),...t],c=Buffer.from(s.join(`\0`));return Buffer.concat([Buffer.from(String(c.length).padStart(8,`0`)),c])}function createHostTerminator(e){return{term:()=>e.command(`t`),kill:()=>e.command(`k`),destroy:()=>e.destroy()}}const KILLED_FROM_BELOW={exitCode:null,signal:`SIGKILL`,wallSeconds:0,cpuSeconds:null,maxRssMb:null,unreaped:!0};function parseEnded({record:e,lost:t,signal:n},r){if(e===null&&r===`subreaper`&&n===`SIGKILL`)return KILLED_FROM_BELOW;if(e===null)throw new SupervisorLost({stdout:``,stderr:t,how:n??`by itself`});let i=record.parse(JSON.parse(e));return{...readStatus(i.status),wallSeconds:i.wall_ns/1e9,cpuSeconds:i.cpu_us/1e6,maxRssMb:i.max_rss_kb/1024,unreaped:i.survivors>0}}var PerlHost=class{#e;#t;#n=``;#r=``;#i=null;#a=0;alive=!0;constructor(e){let t=process.env.PATH??`/usr/bin:/bin`,n=spawn(`perl`,[...e],{stdio:`pipe`,env:{PATH:t,LC_ALL:`C`}});this.#e=n,n.stdout.setEncoding(`utf8`).on(`data`,e=>this.#c(e)),n.stderr.setEncoding(`utf8`).on(`data`,e=>this.#r+=e),n.stdin.on(`error`,()=>n.stdin.destroy()),this.#t=new Promise((e,t)=>{n.once(`error`,t),n.once(`close`,(t,n)=>e(n??`exit ${t}`))}),this.#t.then(()=>this.alive=!1,()=>this.alive=!1),this.#o()}get pid(){return this.#e.pid}async run(e){this.#e.ref();for(let e of this.#s())e.ref();let t=new Promise(e=>this.#i=e);this.#e.stdin?.write(e);let n=await Promise.race([t,this.#t]);this.#i=null,this.alive&&this.#o();let r=this.#r.trim();return typeof n!=`object`||!n?{record:null,lost:r,signal:n}:`record`in n?{record:n.record,lost:``,signal:null}:`lost`in n?{record:null,lost:n.lost,signal:null}:{record:null,lost:r,signal:readStatus(n.status).signal}}command(e){this.#e.stdin?.write(e)}destroy(){this.#e.kill(`SIGKILL`)}#o(){this.#e.unref();for(let e of this.#s())e.unref()}#s(){let{stdin:e,stdout:t,stderr:n}=this.#e;return[e,t,n].flatMap(e=>isSocket(e)?[e]:[])}#c(e){let t=(this.#n+e).split(`
`);this.#n=t.pop()??``;for(let e of t)this.#l(e)}#l(e){let t=/^end (\d+)$/.exec(e)?.[1];t===void 0?(this.#a+=1,this.#i?.(e.startsWith(`lost `)?{lost:e.slice(5)}:{record:e})):this.#a>0?--this.#a:this.#i?.({status:Number(t)})}};function isSocket(e){return typeof e==`object`&&!!e&&`ref`in e&&`unref`in e}const SYSCALL_STRATEGIES=/* @__PURE__ */ new Set([`uid`,`pid-namespace`,`subreaper`]),chosen=/* @__PURE__ */ new Map;function chooseSupervisor(e){let t=JSON.stringify(e.owner),n=chosen.get(t);if(n!==void 0)return n;let r=selectSupervisor(e);return chosen.set(t,r),r.catch(()=>chosen.delete(t)),r}async function selectSupervisor({owner:e,monotonic:t}){if(e!==null)return requireUserSupervisor(e);let n=[createReaper(`pid-namespace`),createShellNamespace(t),createReaper(`subreaper`),createGroupSupervisor(t)];for(let e of n)if(await findProbeFailure(e)===null)return e;throw Error(`winnow cannot run commands: /bin/sh does not start`)}async function requireUserSupervisor(e){let t=createReaper(`uid`,e),n=await findProbeFailure(t);if(n===null)return t;throw new UnfitMachine(`commands cannot be run as user ${e.uid}: ${n}`,`run winnow as root, or use isolation: none`)}async function findProbeFailure(e){if(process.platform!==`linux`&&e.strategy!==`group`)return`only on Linux`;if(SYSCALL_STRATEGIES.has(e.strategy)&&![`x64`,`arm64`].includes(process.arch))return`the system calls of ${process.arch} are not known`;let t=await mkdtemp(join(tmpdir(),`winnow-probe-`));try{let n=await e.run(buildProbeLaunch(t,e.strategy));return n.exitCode===7?null:`the probe ended with ${n.exitCode??n.signal}`}catch(e){return e instanceof Error?e.message:String(e)}finally{await rm(t,{recursive:!0,force:!0})}}function buildProbeLaunch(e,t){let n=t===`uid`;return{command:`exit 7`,cwd:`/`,env:{PATH:process.env.PATH??`/usr/bin:/bin`},stdout:n?`/dev/null`:join(e,`stdout`),stderr:n?`/dev/null`:join(e,`stderr`),timeoutSeconds:20,signal:new AbortController().signal}}function createGroupSupervisor(e){return{strategy:`group`,async run(t,n){let r=e(),i=startGroup(t),a=new ProcessFollower(i.pid),o=new Promise((t,n)=>{i.once(`error`,n),i.once(`exit`,(n,i)=>t({exitCode:n,signal:i,wallSeconds:(e()-r)/1e3}))});i.pid!==void 0&&await n?.(i.pid);let s=new AbortController,c=a.watch(s.signal),l={term:()=>a.signal(`SIGTERM`),kill:()=>a.signal(`SIGKILL`),destroy:()=>void i.kill(`SIGKILL`)};try{let{value:e,timedOut:n}=await withDeadline(o,l,t);return t.signal.throwIfAborted(),{...e,timedOut:n,cpuSeconds:null,maxRssMb:null,unreaped:!0}}finally{s.abort(),await c,await a.endAll()}}}}function startGroup(e){let t=openSync(e.stdout,`w`),n=openSync(e.stderr,`w`);try{let{cwd:r,env:i}=e;return spawn(`/bin/sh`,[`-c`,e.command],{cwd:r,env:i,detached:!0,stdio:[`ignore`,t,n]})}finally{closeSync(t),closeSync(n)}}var ProcessFollower=class{#e=/* @__PURE__ */ new Map;#t;constructor(e){this.#t=e}async watch(e){for(;!e.aborted;)await this.look(),await setTimeout(250,void 0,{signal:e}).catch(t=>{if(!e.aborted)throw t})}async look(){let e=await listProcesses(),t=e.filter(e=>e.pgid===this.#t||this.#e.get(e.pid)===e.started),n=findDescendants(e,new Set(t.map(e=>e.pid)));for(let e of n)this.#e.set(e.pid,e.started);return n}async signal(e){for(let t of await this.look())endProcess(t.pid,e)}async endAll(){for(let e=0;e<5e3;e+=20){let e=await this.look();if(e.length===0)return;for(let t of e)endProcess(t.pid,`SIGKILL`);await setTimeout(20)}}};const INIT=String.raw`
exec 3<&0 4>&1 </dev/null >/dev/null
echo 1000 2>/dev/null >/proc/self/oom_score_adj
( while read -r _ <&3; do kill -TERM -1; done; kill -KILL -1 ) 2>/dev/null &
sh -c "$1" >"$2" 2>"$3" 3<&- 4>&- &
wait $!
echo $? >&4
`;function createShellNamespace(e){return{strategy:`shell-namespace`,async run(t,n){let r=startInNamespace(t),i=e(),a=collectOutput(r);r.pid!==void 0&&await n?.(r.pid);let{value:o,timedOut:s}=await withDeadline(a,{term:()=>void r.stdin?.write(`t
`),kill:()=>void r.stdin?.end(),destroy:()=>void r.kill(`SIGKILL`)},t);t.signal.throwIfAborted();let c={timedOut:s,wallSeconds:(e()-i)/1e3,cpuSeconds:null,maxRssMb:null,unreaped:!1};return{...readCode(o),...c}}}}function startInNamespace(e){let t=[`--pdeathsig`,`KILL`,`unshare`,`--user`,`--map-current-user`,`--pid`,`--fork`,`--kill-child=KILL`,`/bin/sh`,`-c`,INIT,`init`,e.command,e.stdout,e.stderr];return spawn(`setpriv`,t,{cwd:e.cwd,env:e.env,stdio:`pipe`})}function readCode(e){let t=/^\d+$/.exec(e.stdout.trim())?.[0];if(t===void 0)throw new SupervisorLost(e);return{exitCode:Number(t),signal:null}}const REPLACED=/^\/(?:var\/)?tmp(?:\/|$)/,SHARED_MEMORY=/^\/dev\/shm(?:\/|$)/;function listReaches({strategy:e},t){let n=[`files`,`network`,`memory`];switch(e){case`pid-namespace`:return[...n,...SHARED_MEMORY.test(t)?[`shared memory`]:[],...REPLACED.test(t)?[`/tmp`]:[]];case`shell-namespace`:return[...n,`shared memory`,`/tmp`];case`subreaper`:case`group`:return[...n,`processes`,`shared memory`,`/tmp`];case`uid`:return[];default:return e}}function makeAccessible(e){mkdirSync(e,{recursive:!0}),requireRootOwned(e),chmodSync(e,457)}async function checkUserAccess({owners:e},{workDir:t,searched:n,laterCode:r},i){let a=listFoldersDown(t),o=listPathRisks(n),s=r.filter(e=>lstatSync(e,{throwIfNoEntry:!1})!==void 0),c=s.flatMap(e=>listPathRisks(e));for(let t of e){let e=await chooseSupervisor({owner:t,monotonic:i}),n=a[await findFirstYes(e,a.map(buildEnterTest))];if(n!==void 0)throw toAccessError(t,n);let r=await findFirstRisk(e,o);if(r!==void 0)throw toPathError(t,r);let l=(await findFirstRisk(e,c))?.folder??findWritable(s,t);if(l!==null)throw toLaterCodeError(t,l);await clearSharedFolders(t)}}function toAccessError({uid:e},t){return new UnfitMachine(`user ${e} of a side cannot enter ${t}`,`chmod o+x ${t}, or use isolation: none`)}function toPathError({uid:e},{folder:t}){return new UnfitMachine(`user ${e} of a side can replace programs on PATH in ${t}`,`chmod -R o-w ${t}, or take it off PATH`)}function toLaterCodeError({uid:e},t){return new UnfitMachine(`user ${e} of a side can write to ${t}, from which later steps of this job run code`,`chmod -R o-w ${t}, or use isolation: none`)}function listFoldersDown(e){return e===dirname(e)?[e]:[...listFoldersDown(dirname(e)),e]}function buildEnterTest(e){return`! test -x ${quoteShell(e)}`}async function findFirstRisk(e,t){return t[await findFirstYes(e,t.map(({asks:e})=>e))]}async function findFirstYes(e,t){for(let n=0;n<t.length;n+=200){let r=await askShell(e,t.slice(n,n+200));if(r!==9)return n+r-10}return t.length}async function askShell(e,t){let n=t.map((e,t)=>`if ${e}; then exit ${10+t}; fi`),r=await e.run({command:[...n,`exit 9`].join(`
`),cwd:`/`,env:{PATH:process.env.PATH??`/usr/bin:/bin`},stdout:`/dev/null`,stderr:`/dev/null`,timeoutSeconds:20,signal:new AbortController().signal}),{exitCode:i,unreaped:a}=r;if(i!==null&&i>=9&&i<10+t.length&&!(a&&i===9))return i;throw Error(`the access check as a user of a side ended with ${i??r.signal}`)}function findWritable(e,t){for(let n of e){let e=findWritableBelow(realpathSync(n),t);if(e!==null)return e}return null}function findWritableBelow(e,t){if(!listFoldersAbove(e).every(e=>canEnter(lstatSync(e),t)))return null;let n=[e];for(let e=n.pop();e!==void 0;e=n.pop()){let r=lstatSync(e,{throwIfNoEntry:!1});if(!(r===void 0||r.isSymbolicLink())){if(canWrite(r,t))return e;if(r.isDirectory()&&canEnter(r,t))for(let t of readdirSync(e))n.push(join(e,t))}}return null}function listFoldersAbove(e){let t=dirname(e);return t===e?[]:[...listFoldersAbove(t),t]}function canWrite(e,{uid:t,gid:n}){return e.uid===t||!!(e.mode&(e.gid===n?16:2))}function canEnter(e,{uid:t,gid:n}){return e.uid===t||!!(e.mode&(e.gid===n?8:1))}function listPathRisks(e){let t=/* @__PURE__ */ new Map,n=(e,n)=>t.set(e,{asks:e,folder:n});for(let t of e.split(`:`).filter(isAbsolute)){let e=listLookupFolders(t);for(let{folder:t,nextExists:r}of e)n(`test -O ${quoteShell(t)}`,t),r&&isSticky(t)||n(`test -w ${quoteShell(t)}`,t);let r=e.at(-1);r?.nextExists===!1&&!r.ends&&n(buildProgramTest(r.folder),r.folder)}return[...t.values()]}function listLookupFolders(e){let t=[],n=0,r=`/`,i=e.split(`/`);for(let e=i.shift();e!==void 0;e=i.shift()){if(e===``||e===`.`)continue;if(e===`..`){r=dirname(r);continue}let a=join(r,e),o=lstatSync(a,{throwIfNoEntry:!1}),s=o===void 0||o.isSymbolicLink()&&++n>40;if(t.push({folder:r,nextExists:!s,ends:s}),s)return t;if(o.isSymbolicLink()){let e=readlinkSync(a);i.unshift(...e.split(`/`)),isAbsolute(e)&&(r=`/`)}else r=a}return[...t,{folder:r,nextExists:!1,ends:!1}]}function isSticky(e){return!!(lstatSync(e).mode&512)}function buildProgramTest(e){return`(for f in ${quoteShell(e)}/*; do if test -f "$f" && { test -w "$f" || test -O "$f"; }; then exit 0; fi; done; exit 1)`}export{detectMachineFailure as A,computeContentId as B,findProcess as C,DiskFull as D,ClockSetBack as E,findHoldoutDirectory as F,snapshotEverything as G,findTamperedPath as H,getHoldoutDir as I,snapshotFiles as K,getSidesDir as L,readKernelCounts as M,readMachineFingerprint as N,MachineFailed as O,refuseFull as P,layOutHoldout as R,endMarked as S,releaseWorkDir as T,isSameFile as U,findFirstDifference as V,listFolders as W,listSideUsers as _,SupervisorLost as a,claimWorkDir as b,MAKE_USERS as c,UnfitMachine as d,changeOwner as f,isFolder as g,findSideUsers as h,listReaches as i,getBootId as j,describeRunnerError as k,REMOVE_USERS as l,copyForUser as m,makeAccessible as n,lowerPriority as o,clearSharedFolders as p,toDiskPath as q,chooseSupervisor as r,CLOSED_DIR as s,checkUserAccess as t,SIDES_DIR as u,requireSideUsers as v,noteSupervisor as w,endLeftovers as x,toMissingUsersError as y,UncheckablePath as z};