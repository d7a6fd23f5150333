#!/usr/bin/env bash
# Finds words that we avoid (CONTRIBUTING.md, Style): phrases in documents, comments, help and messages; names in Rust.
#
#   words.sh [FILE...]   prints file:line: word (suggestion) and exits with 1 if there are any
#   words.sh --count     prints how often each occurs
set -euo pipefail
cd "$(dirname "$0")/.."

# phrase (a Perl regular expression in lower case, whole words, may be wrapped) = what to write instead
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

# words of a name, in lower case (MaxTime is max_time) = what to write instead
names='
so_many = this many; count, limit
(somebody|anybody|everybody) = any, each
(of_its_own|by_itself|for_want_of|as_far_as|all_the_same|in_any_case|at_the_most) = leave it out
(is|are)_to_be = must
not_to_be_\w+ = cannot, must_not
anew = again
(gone|goes|going)_on = continues, is resumed
that_is_there = existing
are_none = what is missing
(hoard|mortal) = what it is, in the words of the field
(somebody_runs|who_else|not_to_be_done) = ensure_any_runnable, detect_protocol, print_usage_error
'

# a whole name, with its case = what to write instead
identifiers='
(MOST|LEAST|LONGEST|FEWEST)_\w+ = MAX_, MIN_
(Told|Hoard|Deaf|Trouble|Halt|AsFound|Elsewhere|Oddity|Course|Unseen|ForProtocol|Asked|Trees|Halves) = what it is, in the words of the field
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
    'servers/*' 'clients/*' 'suites/*' | sort -u | grep -vE '(^|/)(Cargo\.lock|package-lock\.json|.*\.lock|.*\.snap|go\.(mod|sum)|requirements\.txt|THIRD-PARTY\.md|words\.sh)$')
fi

PHRASES=$phrases NAMES=$names IDENTIFIERS=$identifiers MODE=$mode perl - "${files[@]}" <<'PERL'
use strict;
use warnings;

# The lines of a list above as [pattern, word, suggestion].
sub rules {
  my ($text, $pattern) = @_;
  return map { my ($what, $write) = split / = /, $_, 2; [$pattern->($what), $what, $write] } grep { / = / } split /\n/, $text;
}
my $gap = '(?:\s|//[/!]?|#|\*|--)+';
my @phrases = rules($ENV{PHRASES}, sub { my $what = shift =~ s/ /$gap/gr; qr/(?<![\w-])(?:$what)(?![\w-])/ });
my @names = rules($ENV{NAMES}, sub { qr/(?<![a-z0-9])(?:$_[0])(?![a-z0-9])/ });
my @identifiers = rules($ENV{IDENTIFIERS}, sub { qr/\b(?:$_[0])\b/ });
my (%count, %names_found, $found);

# Reports matches of rules in a text; of names, only the first occurrence.
sub check {
  my ($name, $text, $of_names, @rules) = @_;
  for my $rule (@rules) {
    while ($text =~ /$rule->[0]/g) {
      my ($hit, $start, $end) = ($&, $-[0], $+[0]);
      if ($of_names) {
        $hit = (substr($text, 0, $start) =~ /(\w*)\z/)[0] . $hit . (substr($text, $end) =~ /\A(\w*)/)[0];
        next if $names_found{$hit}++;
      }
      my $line = 1 + (substr($text, 0, $start) =~ tr/\n//);
      $found = 1;
      $count{$rule->[1]}++;
      printf "%s:%d: \"%s\"; write: %s\n", $name, $line, $hit =~ s/\s+/ /gr, $rule->[2] if $ENV{MODE} eq "list";
    }
  }
}

sub blank { return $_[0] =~ s/[^\n]+/ /gr }

# Returns a source file's comments and strings, and its code, each with the other blanked.
sub split_source {
  my $text = shift;
  my ($prose, $code) = ("", "");
  while ($text =~ m{\G(?:(//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|\x27(?:[^\x27\\\n]|\\.)\x27)|([^/"\x27]+|.))}gs) {
    my ($words, $rest) = ($1, $2);
    $prose .= $words // blank($rest);
    $code .= $rest // blank($words);
  }
  return ($prose, $code);
}

for my $name (@ARGV) {
  open my $in, "<", $name or next;
  local $/;
  my $text = <$in>;
  if ($name =~ /\.md$/) {
    $text =~ s/^( *)(```.*?^ *```)/$1 . blank($2)/gmse;
    $text =~ s/(`[^`\n]*`)/blank($1)/ge;
  } elsif ($name =~ /\.(rs|go|java|kt|scala|cs|cc|h|js|ts|tsx|proto|thrift|php)$/) {
    ($text, my $code) = split_source($text);
    if ($name =~ /\.rs$/ && $name !~ m{/generated/}) {
      check($name, $code, 1, @identifiers);
      check($name, lc($code =~ s/(?<=[a-z0-9])(?=[A-Z])/_/gr), 1, @names);
    }
  }
  check($name, lc $text, 0, @phrases);
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
