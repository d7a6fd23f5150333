#!/usr/bin/env bash
# Finds phrases that we avoid, in documents, comments, help and messages (CONTRIBUTING.md, Style).
#
#   words.sh [FILE...]   prints file:line: phrase (suggestion) and exits with 1 if there are any
#   words.sh --count     prints how often each phrase occurs
set -euo pipefail
cd "$(dirname "$0")/.."

# phrase (a Perl regular expression, whole words, any case) = what to write instead
phrases='
told = reported, separated
beside = next to, with
so many = this many, as many
whatever = any, no matter what
nobody = no one; unknown
somebody = someone
anew = again
as it was = unchanged
(is|are) to be = must be, will be
stands? once = is shared
of its own = its own; separate
may not have = can\x27t have, must not have
comes to = amounts to, is
there (is|are) none = none exists; say what is missing
for want of = without
go(es|ne|ing)? on with = resume, continue
can\x27t be had = is not available
one after the other = one after another, in turn
seen from = from the view of
what is there = the existing ones
'

mode=list
if [ "${1:-}" = --count ]; then
  mode=count
  shift
fi

if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(git ls-files -- '*.md' '*.rs' '*.toml' '*.sh' '*.proto' '*.thrift' '*.yaml' '*.ts' '*.tsx' Makefile \
    'servers/*' 'suites/*' | sort -u | grep -vE '(^|/)(Cargo\.lock|package-lock\.json|.*\.lock|.*\.snap|go\.(mod|sum)|requirements\.txt|THIRD-PARTY\.md|words\.sh)$')
fi

PHRASES=$phrases MODE=$mode perl - "${files[@]}" <<'PERL'
use strict;
use warnings;

my @rules = map { my ($phrase, $write) = split / = /, $_, 2; [qr/(?<![\w-])(?:$phrase)(?![\w-])/i, $phrase, $write] }
  grep { / = / } split /\n/, $ENV{PHRASES};
my (%count, $found);

sub blank { my $text = shift; $text =~ s/[^\n]/ /g; return $text }

# The text without code: comments and strings of source files, documents without blocks and spans of code.
sub prose {
  my ($name, $text) = @_;
  if ($name =~ /\.md$/) {
    $text =~ s/^( *)(```.*?^ *```)/$1 . blank($2)/gmse;
    $text =~ s/(`[^`\n]*`)/blank($1)/ge;
    return $text;
  }
  if ($name =~ /\.(rs|go|java|kt|scala|cs|cc|h|js|ts|tsx|proto|thrift|php)$/) {
    my $kept = "";
    while ($text =~ m{(//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|\x27(?:[^\x27\\\n]|\\.)\x27)|(.)}gs) {
      my ($prose, $code) = ($1, $2);
      $kept .= defined $prose ? $prose : $code eq "\n" ? "\n" : " ";
    }
    return $kept;
  }
  return $text;
}

for my $name (@ARGV) {
  open my $in, "<", $name or next;
  local $/;
  my $text = prose($name, scalar <$in>);
  my $number = 0;
  # Phrases may be wrapped: a line is read with the first words of the next one.
  my @lines = split /\n/, $text, -1;
  for my $at (0 .. $#lines) {
    my $line = $lines[$at];
    my $next = $at < $#lines ? $lines[$at + 1] : "";
    $next =~ s{^\s*(?://[/!]?|#|\*|--)?\s*}{};
    my $joined = "$line $next";
    for my $rule (@rules) {
      my ($pattern, $phrase, $write) = @$rule;
      while ($joined =~ /$pattern/g) {
        last if $-[0] >= length $line;
        $found = 1;
        $count{$phrase}++;
        printf "%s:%d: \"%s\"; write: %s\n", $name, $at + 1, $&, $write if $ENV{MODE} eq "list";
      }
    }
  }
}
if ($ENV{MODE} eq "count") {
  printf "%5d  %s\n", $count{$_}, $_ for sort { $count{$b} <=> $count{$a} } keys %count;
  my $total = 0;
  $total += $_ for values %count;
  printf "%5d  in all\n", $total;
  exit 0;
}
exit($found ? 1 : 0);
PERL
