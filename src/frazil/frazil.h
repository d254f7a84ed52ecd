// Everything that programs on top of Frazil use. See examples in README.md.
#pragma once

#include "frazil/base/error.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/c_data.h"
#include "frazil/columnar/type.h"
#include "frazil/runtime/context.h"
#include "frazil/table/table.h"
