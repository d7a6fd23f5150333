package dev.rpcbench.json;

import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.type.LogicalType;

/** Refuses values of a wrong type, many of which Jackson converts by default. */
public final class Strict {
  private Strict() {}

  public static JsonMapper.Builder strict(JsonMapper.Builder mapper) {
    return mapper
        .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
        .enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
        .withCoercionConfigDefaults(
            coercion -> {
              for (var shape : CoercionInputShape.values()) {
                coercion.setCoercion(shape, CoercionAction.Fail);
              }
            })
        .withCoercionConfig(
            LogicalType.Integer,
            coercion -> coercion.setCoercion(CoercionInputShape.String, CoercionAction.TryConvert))
        .withCoercionConfig(
            LogicalType.Float,
            coercion -> coercion.setCoercion(CoercionInputShape.Integer, CoercionAction.TryConvert));
  }
}
