// The text of predicates: what every --where of the program takes, and row filters from Python.
//
//   predicate   := conjunction {OR conjunction}
//   conjunction := negation {AND negation}
//   negation    := NOT negation | primary
//   primary     := '(' predicate ')' | TRUE | FALSE | test
//   test        := column comparator literal | literal comparator column
//                | column [NOT] BETWEEN literal AND literal
//                | column [NOT] IN '(' [literal {',' literal}] ')'
//                | column IS [NOT] (NULL | NAN)
//                | column [NOT] STARTS WITH string
//                | column [NOT] LIKE string [ESCAPE string]    // 'abc%': a prefix; no wildcard: equality; \% is %
//                | column                                      // a boolean column: column = TRUE
//   comparator  := '=' | '==' | '!=' | '<>' | '<' | '<=' | '>' | '>='
//   column      := name {'.' name}                             // a.b: field b of struct a
//   name        := letter {letter | digit | '_' | '$'}         // letter: a-z A-Z _ and everything beyond ASCII
//                | '"' {any character, '"' doubled} '"'        // "a.b" is one name; also for reserved words
//   literal     := string | number | TRUE | FALSE | typed
//   string      := "'" {any character, "'" doubled} "'"
//   number      := ['+' | '-'] (digits ['.' {digit}] | '.' digits) [('e' | 'E') ['+' | '-'] digits]
//   typed       := X string                                    // hexadecimal bytes: X'00ff'
//                | DATE string | TIME string | UUID string | DOUBLE string        // DOUBLE 'NaN', 'Infinity'
//                | TIMESTAMP string                            // with a zone in the text: of that instant
//                | (TIMESTAMPTZ | TIMESTAMP WITH TIME ZONE) string                // without one: UTC
//                | TIMESTAMP WITHOUT TIME ZONE string
//
// Keywords are known in any case. Reserved as names, unless quoted: AND OR NOT IS IN NULL LIKE BETWEEN TRUE FALSE. The
// others (DATE, TIMESTAMP, UUID, X, NAN, STARTS, ...) are keywords only where the grammar has them, so that a column
// `date` needs no quotes. AND binds stronger than OR, NOT stronger than both.
//
// Everything that PyIceberg's row filters accept is accepted with the same meaning, but: '_' in LIKE is SQL's wildcard
// and must be escaped; a quoted name may hold dots and doubles its quotes.
#pragma once

#include <cstddef>
#include <string_view>

#include "frazil/predicate/predicate.h"

namespace frazil::predicate {

inline constexpr size_t kMaxTextBytes = 64 << 20;

// O(text). Throws Error(kInvalidArgument) that shows the line of the text with a caret under the place, and says what
// was expected there.
Predicate parse(std::string_view text);

}  // namespace frazil::predicate
